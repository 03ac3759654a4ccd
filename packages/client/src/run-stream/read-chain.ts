// Reads an output stream of a run, and of the runs that it continues as (docs/react.md#usestream). Used by the hooks for React.

import { ApiError } from '../errors/call-errors.ts'
import type { RunStreamMessage } from './messages.ts'
import { readRunStream, type StreamReadOptions } from './read-stream.ts'

/** With this offset, a run that ended without the stream answers with its end. */
const FIRST_OFFSET = '0'.repeat(16)

/** Messages of one run of the chain. */
export interface ChainMessages<Chunk = unknown> {
  runId: string
  messages: readonly RunStreamMessage<Chunk>[]
}

/** Whether the run has ended without the stream. */
export const isMissingStream = (error: unknown) => error instanceof ApiError && error.status === 404

/**
 * Yields the messages of one run after the other, until the last run of the chain has ended. Throws as `readRunStream` does, also
 * if a run of the chain ended without the stream.
 */
export async function* readChainStream<Chunk = unknown>(
  options: StreamReadOptions,
): AsyncGenerator<ChainMessages<Chunk>, void, undefined> {
  let { runId, offset } = options
  let missing: unknown
  for (;;) {
    let next: string | undefined
    try {
      for await (const messages of readRunStream<Chunk>({
        ...options,
        runId,
        ...(offset === undefined ? {} : { offset }),
      })) {
        const last = messages.at(-1)
        if (last && 'end' in last) next = last.continuedAs
        if (missing !== undefined && next === undefined) throw missing
        missing = undefined
        yield { runId, messages }
      }
    } catch (error) {
      if (missing !== undefined || offset !== undefined || !isMissingStream(error)) throw error
      missing = error
      next = runId
    }
    if (next === undefined) return
    runId = next
    offset = FIRST_OFFSET
  }
}
