// The Transport port: one invoke of a runner. It knows bytes and deadlines, nothing of runs.

/** Tells that an invoke is wanted no more: what transports use of an `AbortSignal`. */
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
  /**
   * Makes durable what the runner reports as finished while its pass goes on. Takes the payload of an
   * `invoke.checkpoint`, answers that of its `checkpoint.ack`; undefined when the invoke is of no use any more (the
   * run has ended, or is another engine's): the reply is then `aborted`. Called one at a time, in the order of the
   * frames, never after the reply. A transport that knows no checkpoints never calls it.
   */
  onCheckpoint?(checkpoint: string): Promise<string | undefined>
}

export type InvokeReply =
  /** The runner answered; `body` is at most the response cap. */
  | { kind: 'answered'; status: number; body: string }
  /** The call never reached a runner (refused, unknown host): it spends no budget. `isFull`: for want of room alone. */
  | { kind: 'refused'; message: string; isFull?: true }
  /** The call may have reached the runner and gave no readable answer (reset, deadline). */
  | { kind: 'broken'; message: string }
  /** The answer was over the response cap. */
  | { kind: 'tooLarge' }
  /** The caller aborted. */
  | { kind: 'aborted' }

export interface Transport {
  /** Never rejects: every failure is a kind of reply. */
  invoke(call: InvokeCall): Promise<InvokeReply>
  /** Whether a call of the URL could be sent now; false of a Connect runner without a socket. Absent: nobody knows. */
  reaches?(url: string): boolean
  /** How many further calls of the URL would be sent; beyond that they are refused. Undefined: there is no bound. */
  room?(url: string): number | undefined
  /** A call of the URL waits for room. Told again and again as long as it does. */
  requestRoom?(url: string): void
  close(): Promise<void>
}

/** Most bytes of an invoke's answer (contract §8). */
export const RESPONSE_BYTES_MAX = 1_048_576
