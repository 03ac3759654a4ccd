// The transport below the bus: PostgreSQL or Redis carries messages between engines. The bus (wire-bus.ts) adds topics
// and the senders' names.

export interface Wire {
  /**
   * Subscribes as `name`. From now on, calls `onMessage` with every message to `name` or to all, including the engine's own, and
   * `onReconnect` whenever messages may have been missed.
   */
  listen(name: string, onMessage: (message: string) => void, onReconnect: () => void): Promise<void>
  /** Sends a message to one listener, or to all. Never rejects: a message that cannot be sent is lost. */
  send(message: string, to?: string): Promise<void>
  /** Present only if the wire is a separate network service, which readiness checks. */
  ping?(): Promise<void>
  close(): Promise<void>
}
