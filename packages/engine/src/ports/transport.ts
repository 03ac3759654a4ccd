// The Transport port: carries one invoke to a runner. It knows bytes and deadlines, nothing of runs.

/** Aborts an invoke: what transports use of an `AbortSignal`. */
export interface InvokeSignal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: InvokeListener): void
  removeEventListener(type: 'abort', listener: InvokeListener): void
}

export type InvokeListener = (() => void) | { handleEvent(): void }

/** Before the payload of an `invoke.stream` where payloads of checkpoints are taken too; its answer is that of the `stream.ack`. */
export const STREAM_MARK = '~'

export interface InvokeCall {
  url: string
  /** The invoke request, as JSON text. */
  body: string
  timeoutMs: number
  signal: InvokeSignal
  /** Whom to sign the invoke for, if its runner negotiated such signatures. */
  recipient?: string
  /** The runner marks its answers: one without the mark is from a server between. */
  isMarked?: boolean
  /**
   * Makes durable what the runner reports as finished during its pass. Takes the payload of an `invoke.checkpoint` and
   * resolves to that of its `checkpoint.ack`, or to undefined when the invoke is obsolete (the run has ended, or another
   * engine drives it): the reply is then `aborted`. Called one at a time, in the order of the frames, never after the
   * reply. The same of what steps append to streams, behind `STREAM_MARK`; several may be under way. A transport without checkpoints
   * never calls it.
   */
  onCheckpoint?(checkpoint: string): Promise<string | undefined>
  /** Whether another runner would take the call now. Then one whose machine fell silent before it confirmed the call is passed over. */
  mayMove?(): boolean
  /**
   * Called once, at the begin, with a function that notifies the runner of the end of the run, and goes on: it may still answer. A transport
   * without a message for that never calls it.
   */
  onCancellable?(cancel: () => void): void
  /** Called once, at the begin, with a function that starts the deadline anew: the runner has reported by another way. */
  onDeadline?(restart: () => void): void
}

export type InvokeReply =
  /**
   * The runner answered; `body` is at most RESPONSE_BYTES_MAX. `isForeign`: the answer lacks the mark that the runner gives.
   * `release` gives back the memory of a large answer, when its steps are stored.
   */
  | { kind: 'answered'; status: number; body: string; isForeign?: true; release?: () => void }
  /**
   * The call never reached a runner (refused, unknown host), so it costs no attempt. `isFull`: only for lack of room. `isSilent`: the
   * runner fell silent around the call, which another one takes.
   */
  | { kind: 'refused'; message: string; isFull?: true; isSilent?: true }
  /**
   * The call may have reached the runner and got no readable answer (reset, deadline). `isLost`: its connection ended over it, as when
   * the process of the runner ends.
   */
  | { kind: 'broken'; message: string; isLost?: true }
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
