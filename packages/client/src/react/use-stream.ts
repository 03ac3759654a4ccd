// `useStream`: the chunks of an output stream that count.

import { ApiError } from '../errors/call-errors.ts'
import {
  applyStreamMessages,
  EMPTY_STREAM,
  type RunStreamChunk,
  type RunStreamState,
  textOf,
} from '../run-stream/messages.ts'
import { readRunStream } from '../run-stream/read-stream.ts'
import { type Update, useReader } from './use-reader.ts'
import type { RunOptions } from './use-run.ts'

export interface StreamOptions extends RunOptions {
  /** Name of the stream. */
  stream: string
}

export interface StreamView<Chunk = unknown> {
  /** The chunks that count, in their order: those of an attempt that failed or was lost are withdrawn. */
  chunks: readonly RunStreamChunk<Chunk>[]
  /** The joined chunks that are strings. */
  text: string
  /** Whether a connection is open that shows chunks as they are written. */
  isLive: boolean
  /** The run has ended: nothing follows. Also of a run that ended without the stream, with the error of status 404. */
  isEnded: boolean
  /** Why the stream cannot be read any more: an `ApiError` or a `ConnectionError`. */
  error?: Error
}

interface Reading<Chunk> {
  state: RunStreamState<Chunk>
  isLive: boolean
  error?: Error
}

/** Whether the run has ended without the stream. */
const isMissing = (error: Error | undefined) => error instanceof ApiError && error.status === 404

/**
 * Follows an output stream of a run, and renders again whenever chunks came or were withdrawn, until the run has ended. Reconnects by itself,
 * at the position that it has. It begins anew when the URL, the run, the token or the name changes.
 */
export function useStream<Chunk = unknown>({ url, runId, token, stream }: StreamOptions): StreamView<Chunk> {
  const read = async (id: string, update: Update<Reading<Chunk>>, signal: AbortSignal) => {
    const onLive = (isLive: boolean) => update(reading => ({ ...reading, isLive }))
    try {
      for await (const messages of readRunStream<Chunk>({ url, runId: id, token, stream, signal, onLive }))
        update(reading => ({ ...reading, state: applyStreamMessages(reading.state, messages) }))
    } catch (error) {
      update(reading => ({ ...reading, error: error as Error }))
    } finally {
      onLive(false)
    }
  }
  const { state, ...rest } = useReader<Reading<Chunk>>({
    initial: { state: EMPTY_STREAM, isLive: false },
    read: runId === undefined ? undefined : (update, signal) => read(runId, update, signal),
    key: JSON.stringify([url, runId, token, stream]),
  })
  return {
    chunks: state.chunks,
    text: textOf(state),
    isEnded: state.end !== undefined || isMissing(rest.error),
    ...rest,
  }
}
