// The bounds of the HTTP layer. `HttpDeps.limits` replaces individual ones, so that tests can shorten the waits.

const MIB = 1024 * 1024

export const HTTP_LIMITS = {
  /** Maximum body in bytes: for `POST /register`, and for every other route (docs/limits.md#bounds). */
  registerBodyMax: 4 * MIB,
  bodyMax: MIB,
  /** The same for a batch of events. */
  eventBatchBodyMax: 8 * MIB,
  /** Bytes of a refused body that are read and discarded, so that the client reads the refusal instead of a reset. */
  discardMax: 16 * MIB,
  /** A client that has not sent all headers, or the whole request, within this time is disconnected. */
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  /** Longer than the 60 s that load balancers keep idle connections, so that they never use a closed one. */
  keepAliveTimeoutMs: 75_000,
  /** Interval at which `headersTimeoutMs` and `requestTimeoutMs` are enforced. */
  timeoutCheckMs: 5_000,
  /** A socket without traffic for this long is closed: its client has stopped reading the answer. */
  silenceMs: 120_000,
  /** How long a closing app waits for the requests in flight before it closes their sockets. */
  drainMs: 10_000,
  /** Streams: the time between keep-alive comments, between reads without a notification, and until a stalled client is dropped. */
  heartbeatMs: 15_000,
  rereadMs: 5_000,
  stallMs: 30_000,
  /** Most streams in all; a further one is answered 503. */
  streamsMax: 50_000,
  /** Most requests that wait for the end of a run; a further one is answered at once. */
  waitersMax: 10_000,
  /** Number of unread messages, and of unread bytes, of a live stream at which a client that has stopped reading is dropped. */
  unreadFrames: 10_000,
  unreadBytes: 4 * MIB,
  /** Most events and starts that are taken in at once: usually, and while the engine drives its maximum of runs. */
  acceptsMax: 100,
  fullAcceptsMax: 32,
  /** Most requests that wait to be taken in, and for how long; beyond either bound they are answered 503. */
  acceptsWaitingMax: { all: 20_000, perNamespace: 15_000, perKey: 10_000 },
  acceptMs: 30_000,
  /** How long a search, a count or a list of payloads may take, from the arrival of the request; and the count of a bulk replay. */
  scanMs: 5_000,
  bulkScanMs: 30_000,
  /** How long statistics may take. */
  statisticsMs: 2_000,
  /** How long a list looks for runs before it returns a part, if the request allows that. */
  partialScanMs: 2_000,
  /** Maximum length of a bundle, and the time it may take. */
  bundleBytes: 32 * MIB,
  bundleMs: 120_000,
  /** Timeline frames that a stream reads, holds and writes at a time. */
  pageFrames: 100,
}

export type HttpLimits = typeof HTTP_LIMITS
