// Every bound of the HTTP layer in one place. `createApp` takes overrides, so that tests can shrink the waits.

export interface HttpLimits {
  /** Largest body in bytes: `POST /register`, and every other route (contract §8, decisions "Events"). */
  registerBodyMax: number
  bodyMax: number
  /** How much of a refused body is read and thrown away, so that the client reads the refusal, not a reset. */
  discardMax: number
  /** A client that has not sent all its headers, or its whole request, by then is cut off. */
  headersTimeoutMs: number
  requestTimeoutMs: number
  /** Longer than the 60 s that load balancers keep idle connections, so that they never meet a closed one. */
  keepAliveTimeoutMs: number
  /** How often the two timeouts above are enforced. */
  timeoutCheckMs: number
  /** A socket on which nothing moves for so long is cut: the client has stopped reading its answer. */
  silenceMs: number
  /** How long a closing app waits for the requests in flight before it cuts them off. */
  drainMs: number
  /** Streams: the pause between keep-alive comments, between reads nobody rang for, and before a stalled client is dropped. */
  heartbeatMs: number
  rereadMs: number
  stallMs: number
  /** How much of a live stream a client that has stopped reading may leave unread before it is dropped. */
  unreadFrames: number
  unreadBytes: number
  /** How long one list may look for runs that its filter matches. */
  searchMs: number
  /** Timeline frames read, held and written at a time. */
  pageFrames: number
}

const MIB = 1024 * 1024

export const HTTP_LIMITS: HttpLimits = {
  registerBodyMax: 4 * MIB,
  bodyMax: MIB,
  discardMax: 16 * MIB,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  keepAliveTimeoutMs: 75_000,
  timeoutCheckMs: 5_000,
  silenceMs: 120_000,
  drainMs: 10_000,
  heartbeatMs: 15_000,
  rereadMs: 5_000,
  stallMs: 30_000,
  unreadFrames: 10_000,
  unreadBytes: 4 * MIB,
  searchMs: 5_000,
  pageFrames: 100,
}
