// The messages of an output stream, and which of them count (docs/streams.md#messages). Pure. Used by every reader of output
// streams.

/** A message as an engine sends it. If step and attempt of a chunk are absent, they are those of the previous message. */
export type RunStreamMessage<Chunk = unknown> =
  | { n: number; chunk: Chunk; step?: string; attempt?: number }
  | { n: number; rollback: number; step: string; attempt: number; reason: 'failed' | 'lost' }
  | { n: number; end: string; continuedAs?: string }

/** A chunk that counts. */
export interface RunStreamChunk<Chunk = unknown> {
  n: number
  chunk: Chunk
  /** Name of the step that wrote it. */
  step: string
  attempt: number
}

/** The state of a stream, as a reader has built it. */
export interface RunStreamState<Chunk = unknown> {
  /** The chunks that count, in their order. */
  readonly chunks: readonly RunStreamChunk<Chunk>[]
  /** Number of the next message. Messages before it are not applied again. */
  readonly next: number
  /** Step and attempt of the last message. */
  readonly step: string
  readonly attempt: number
  /** Status of the run, once it has ended: nothing follows. */
  readonly end?: string
}

/** The state of a stream before its first message. */
export const EMPTY_STREAM: RunStreamState<never> = { chunks: [], next: 0, step: '', attempt: 1 }

/**
 * Returns the state after these consecutive messages. A rollback withdraws the chunks of its step from its number on. Messages
 * that the state already has are skipped, so a reader may read again from an earlier position.
 */
export function applyStreamMessages<Chunk>(
  state: RunStreamState<Chunk>,
  messages: readonly RunStreamMessage<Chunk>[],
): RunStreamState<Chunk> {
  const fresh = messages.filter(({ n }) => n >= state.next)
  if (fresh.length === 0) return state
  let { step, attempt, end } = state
  let chunks = [...state.chunks]
  // The names of a skipped message still count.
  for (const message of messages) {
    if ('end' in message) {
      end = message.end
      continue
    }
    ;({ step = step, attempt = attempt } = message)
    if (message.n < state.next) continue
    if ('chunk' in message) chunks.push({ n: message.n, chunk: message.chunk, step, attempt })
    else {
      const { rollback } = message
      chunks = chunks.filter(chunk => chunk.step !== message.step || chunk.n < rollback)
    }
  }
  const next = (fresh.at(-1) as { n: number }).n + 1
  return { chunks, next, step, attempt, ...(end === undefined ? {} : { end }) }
}

/** The joined chunks that are strings. */
export function textOf({ chunks }: Pick<RunStreamState, 'chunks'>): string {
  return chunks.map(({ chunk }) => (typeof chunk === 'string' ? chunk : '')).join('')
}
