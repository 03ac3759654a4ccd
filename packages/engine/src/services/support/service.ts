// The contract of everything that compose starts and stops. services/service-contract.test.ts checks each service against it.

/** Work that ends on request. */
export interface Stoppable {
  /**
   * Resolves when none of its work is under way and none of its timers is left; at the deadline it abandons the work that it
   * can. May be called before `start`, twice, and while it starts. Never rejects.
   */
  stop(deadline?: AbortSignal): Promise<void>
}

export interface Service extends Stoppable {
  /** Begins to work; does nothing when called again, or after `stop`. */
  start(): void
}
