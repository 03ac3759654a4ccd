// Reads an output stream of a run over any number of connections (docs/streams.md#read-over-http). Used by the hooks for React.

import { follow } from '../http/stream.ts'
import { connectionTo, type ReadOptions, settingsOf } from './connection.ts'
import type { RunStreamMessage } from './messages.ts'

export interface StreamReadOptions extends ReadOptions {
  /** Name of the stream. */
  stream: string
  /** The offset to begin at, as the engine gave it; by default the first message. */
  offset?: string
}

/** The engine's event after each batch of messages. */
interface Control {
  streamNextOffset?: string
  streamClosed?: boolean
}

/**
 * Yields the messages in batches until the run has ended. Reconnects with growing pauses, and resumes at the last offset that the
 * engine gave. Throws an `ApiError` that is final, such as 401 once the token has expired, and a `ConnectionError` after too many
 * tries.
 */
export async function* readRunStream<Chunk = unknown>(
  options: StreamReadOptions,
): AsyncGenerator<readonly RunStreamMessage<Chunk>[], void, undefined> {
  const { runId, stream } = options
  const connection = connectionTo(options)
  const path = `/runs/${encodeURIComponent(runId)}/streams/${encodeURIComponent(stream)}`
  let offset = options.offset ?? '-1'
  let isClosed = false
  const source = {
    request: () => ({ method: 'GET', path: `${path}?live=sse&offset=${offset}`, headers: connection.headers }),
    isOver: async () => isClosed,
  }
  for await (const event of follow(connection, source, settingsOf(options))) {
    if (Array.isArray(event)) {
      yield event
      continue
    }
    const control = event as Control
    offset = control.streamNextOffset ?? offset
    isClosed = control.streamClosed === true
    if (isClosed) return
  }
}
