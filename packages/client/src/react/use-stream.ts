// `useStream`: the chunks of an output stream that count.

import {
  applyStreamMessages,
  EMPTY_STREAM,
  type RunStreamChunk,
  type RunStreamState,
  textOf,
} from '../run-stream/messages.ts'
import { type ChainMessages, isMissingStream, readChainStream } from '../run-stream/read-chain.ts'
import { type RunOptions, useReader } from './use-reader.ts'

export interface StreamOptions extends RunOptions {
  /** Name of the stream. */
  stream: string
}

/** A chunk that counts, and its run: numbers begin at 0 in each run of a chain. */
export interface ChainChunk<Chunk = unknown> extends RunStreamChunk<Chunk> {
  runId: string
}

export interface StreamView<Chunk = unknown> {
  /**
   * The chunks that count, in their order: those of an attempt that failed or was lost are withdrawn. Those of a run that continues come before
   * those of the next one.
   */
  chunks: readonly ChainChunk<Chunk>[]
  /** The joined chunks that are strings. */
  text: string
  /** Whether a connection is open that shows chunks as they are written. */
  isLive: boolean
  /** The last run of the chain has ended: nothing follows. Also of a run that ended without the stream, with the error of status 404. */
  isEnded: boolean
  /** Why the stream can no longer be read: an `ApiError` or a `ConnectionError`. */
  error?: Error
}

interface Reading<Chunk> {
  /** The run that is read, and its stream. */
  runId?: string
  state: RunStreamState<Chunk>
  /** Chunks of the earlier runs. */
  earlier: readonly ChainChunk<Chunk>[]
  isLive: boolean
  /** The last run of the chain has ended. */
  isOver: boolean
  error?: Error
}

/** The chunks of all runs so far. */
function chunksOf<Chunk>({ state, earlier }: Reading<Chunk>): readonly ChainChunk<Chunk>[] {
  const chunks = state.chunks as readonly ChainChunk<Chunk>[]
  return earlier.length === 0 ? chunks : [...earlier, ...chunks]
}

/** Returns the reading after the messages. Chunks that already existed stay the same objects. */
function withMessages<Chunk>(reading: Reading<Chunk>, { runId, messages }: ChainMessages<Chunk>): Reading<Chunk> {
  const isNext = reading.runId !== undefined && reading.runId !== runId
  const before = isNext ? { state: EMPTY_STREAM, earlier: chunksOf(reading) } : reading
  const state = applyStreamMessages<Chunk>(before.state, messages)
  for (const chunk of state.chunks.toReversed()) {
    if ('runId' in chunk) break
    Object.assign(chunk, { runId })
  }
  return { ...reading, ...before, runId, state }
}

/**
 * Follows an output stream of a run, and renders again whenever chunks came or were withdrawn, until the run has ended. A run
 * that continues is followed to the last run of its chain. Reconnects by itself, at the position that it has. It starts again
 * when the URL, the run, the token or the name changes.
 */
export function useStream<Chunk = unknown>({ stream, ...run }: StreamOptions): StreamView<Chunk> {
  const reading = useReader<Reading<Chunk>>(run, {
    initial: { state: EMPTY_STREAM, earlier: [], isLive: false, isOver: false },
    name: stream,
    async read(from, update) {
      for await (const batch of readChainStream<Chunk>({ ...from, stream }))
        update(reading => withMessages(reading, batch))
      update(reading => ({ ...reading, isOver: true }))
    },
  })
  const { isLive, isOver, error } = reading
  const chunks = chunksOf(reading)
  return {
    chunks,
    text: textOf({ chunks }),
    isLive,
    isEnded: isOver || isMissingStream(error),
    ...(error && { error }),
  }
}
