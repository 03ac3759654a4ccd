// The contract of everything that compose starts and stops. services/service-contract.test.ts holds each service to it.

/** Work that ends on request. */
export interface Stoppable {
  /**
   * Resolves when none of its work is under way and no timer of its own is left; at the deadline it gives up what can be
   * given up. May be called before `start`, twice, and while it starts. Never rejects.
   */
  stop(deadline?: AbortSignal): Promise<void>
}

export interface Service extends Stoppable {
  /** Begins to work; does nothing the second time, nor after `stop`. */
  start(): void
}
