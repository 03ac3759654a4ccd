// The Transport port: carries one invoke to a runner. It knows bytes and deadlines, nothing of runs.

/** Aborts an invoke: what transports use of an `AbortSignal`. */
export interface InvokeSignal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: InvokeListener): void
  removeEventListener(type: 'abort', listener: InvokeListener): void
}

export type InvokeListener = (() => void) | { handleEvent(): void }

export interface InvokeCall {
  url: string
  /** The invoke request, as JSON text. */
  body: string
  timeoutMs: number
  signal: InvokeSignal
  /** Whom to sign the invoke for, if its runner negotiated such signatures. */
  recipient?: string
  /**
   * Makes durable what the runner reports as finished during its pass. Takes the payload of an `invoke.checkpoint` and
   * resolves to that of its `checkpoint.ack`, or to undefined when the invoke is obsolete (the run has ended, or another
   * engine drives it): the reply is then `aborted`. Called one at a time, in the order of the frames, never after the
   * reply. A transport without checkpoints never calls it.
   */
  onCheckpoint?(checkpoint: string): Promise<string | undefined>
  /** Called once, at the begin, with a function that starts the deadline anew: the runner has reported by another way. */
  onDeadline?(restart: () => void): void
}

export type InvokeReply =
  /** The runner answered; `body` is at most RESPONSE_BYTES_MAX. */
  | { kind: 'answered'; status: number; body: string }
  /** The call never reached a runner (refused, unknown host), so it costs no attempt. `isFull`: only for lack of room. */
  | { kind: 'refused'; message: string; isFull?: true }
  /** The call may have reached the runner and got no readable answer (reset, deadline). */
  | { kind: 'broken'; message: string }
  /** The answer was larger than RESPONSE_BYTES_MAX. */
  | { kind: 'tooLarge' }
  /** The caller aborted. */
  | { kind: 'aborted' }

export interface Transport {
  /** Never rejects: every failure is a kind of reply. */
  invoke(call: InvokeCall): Promise<InvokeReply>
  /** Whether a call of the URL could be sent now; false for a Connect runner without a socket. Absent: unknown. */
  reaches?(url: string): boolean
  /** How many more calls of the URL would be sent now; further ones are refused. Undefined: there is no bound. */
  room?(url: string): number | undefined
  /** A call of the URL waits for room. Called repeatedly for as long as it waits. */
  requestRoom?(url: string): void
  close(): Promise<void>
}
