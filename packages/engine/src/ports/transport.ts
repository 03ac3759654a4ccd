// The Transport port: carries one invoke to a runner. It knows bytes and deadlines, but nothing about runs.

/** Aborts an invoke: the part of an `AbortSignal` that transports use. */
export interface InvokeSignal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: InvokeListener): void
  removeEventListener(type: 'abort', listener: InvokeListener): void
}

export type InvokeListener = (() => void) | { handleEvent(): void }

/**
 * Marks the payload of an `invoke.stream` where payloads of checkpoints are also accepted. The answer is the payload of the
 * `stream.ack`.
 */
export const STREAM_MARK = '~'

export interface InvokeCall {
  url: string
  /** The invoke request, as JSON text. */
  body: string
  timeoutMs: number
  signal: InvokeSignal
  /** The recipient to sign the invoke for, if its runner negotiated such signatures. */
  recipient?: string
  /** The runner marks its answers: an answer without the mark comes from a server in between. */
  isMarked?: boolean
  /**
   * Makes durable the steps that the runner reports as finished during its pass. Takes the payload of an `invoke.checkpoint`
   * and resolves to the payload of its `checkpoint.ack`, or to undefined when the invoke is obsolete (the run has ended, or
   * another engine drives it): the reply is then `aborted`. Called for one checkpoint at a time, in the order of the frames,
   * never after the reply. Appends to streams come here too, behind `STREAM_MARK`; several may be under way. A transport
   * without checkpoints never calls it.
   */
  onCheckpoint?(checkpoint: string): Promise<string | undefined>
  /**
   * Whether another runner would take the call now. If so, a runner whose machine fell silent before it confirmed the call is
   * passed over.
   */
  mayMove?(): boolean
  /**
   * Called once, at the beginning, with a function that notifies the runner of the end of the run. The invoke continues: the
   * runner may still answer. A transport without such a message never calls it.
   */
  onCancellable?(cancel: () => void): void
  /**
   * Called once, at the beginning, with a function that restarts the deadline, because the runner has reported in another way.
   */
  onDeadline?(restart: () => void): void
}

export type InvokeReply =
  /**
   * The runner answered; `body` is at most RESPONSE_BYTES_MAX. `isForeign`: the answer lacks the runner's mark. `release` gives
   * back the memory of a large answer when its steps are stored.
   */
  | { kind: 'answered'; status: number; body: string; isForeign?: true; release?: () => void }
  /**
   * The call never reached a runner (refused, unknown host), so it costs no attempt. `isFull`: only for lack of room.
   * `isSilent`: the runner fell silent around the call, and another runner takes it.
   */
  | { kind: 'refused'; message: string; isFull?: true; isSilent?: true }
  /**
   * The call may have reached the runner and got no readable answer (reset, deadline). `isLost`: the connection ended during
   * the call, as when the runner's process ends.
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
  /** How many more calls of the URL could be sent now; further calls are refused. Undefined: there is no bound. */
  room?(url: string): number | undefined
  /** A call of the URL waits for room. Called repeatedly while it waits. */
  requestRoom?(url: string): void
  close(): Promise<void>
}
