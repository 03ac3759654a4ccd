// Sends the messages of an output stream as they come. Used by run-streams.ts, and by the topics of GET /stream.

import type { StreamFeed, StreamPart } from '../../live/stream-feed.ts'

export interface Sending {
  feed: StreamFeed
  /** The position of the first message. */
  from: number
  signal: AbortSignal
}

/**
 * Calls `send` with every part from the position onward, one after the other, until the run has ended or the signal is aborted.
 * The first part is sent even if it is empty: it has the reader's position.
 */
export async function sendParts({ feed, from, signal }: Sending, send: (part: StreamPart) => Promise<void>) {
  let position = from
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    const { changes } = feed
    const part = await feed.part(position)
    if (!part || signal.aborted) return
    position = part.next
    if (part.count > 0 || part.isClosed || isFirst) await send(part)
    if (part.isClosed) return
    if (part.isUpToDate) await feed.changed(changes, signal)
  }
}
