// Sends the messages of an output stream as they arrive, with a long poll or as server-sent events. Used by run-streams.ts.

import { operations } from '@perdure/protocol/operations'
import { stillAuthorized } from '../../access/authorize.ts'
import type { HttpContext } from '../../access/context.ts'
import { SseStream } from '../../live/sse.ts'
import type { StreamFeeds } from '../../live/stream-feed.ts'
import { notFound } from '../../request/query.ts'
import type { Exchange, OpenedStream } from './stored-reads.ts'
import { putPosition, sseBytes } from './stream-answers.ts'
import { sendParts } from './stream-sender.ts'

/** How long a long poll waits for messages, and how long server-sent events continue. */
const LONG_POLL_MS = 20_000
const SSE_MS = 60_000

export type LiveRead = Pick<OpenedStream, 'stream' | 'from'> & { cursor: string }

/** Answers as soon as there are messages, or the run has ended. */
export async function pollStream(
  context: HttpContext,
  feeds: StreamFeeds,
  { request, reply }: Exchange,
  { stream, from, cursor }: LiveRead,
) {
  const leaveCount = context.streams.enter(request.actor)
  const feed = feeds.enter(stream)
  const over = new AbortController()
  const stop = () => over.abort()
  const cancel = context.deps.clock.after(LONG_POLL_MS, stop)
  const leaveDrain = context.drain.onStart(stop)
  const { runAccess } = context.deps
  const { runToken } = request.actor
  const leaveToken = runAccess.onEnd(runToken, stop)
  reply.raw.once('close', stop)
  try {
    const isAuthorized = stillAuthorized(context, operations.readRunStream, request)
    for (;;) {
      const { changes } = feed
      const part = await feed.part(from)
      if (!part) throw notFound('run')
      if (part.count > 0 || part.isClosed || over.signal.aborted || !isAuthorized()) {
        if (runToken) runAccess.check(runToken)
        putPosition(reply, part, cursor)
        reply.header('cache-control', 'private, no-cache')
        if (part.count === 0) return reply.code(204).send()
        const etag = `"${from}:${part.next}${part.isClosed ? ':c' : ''}"`
        reply.code(200).headers({ 'content-type': 'application/json', etag })
        return reply.send(Buffer.from(part.text))
      }
      await feed.changed(changes, over.signal)
    }
  } finally {
    reply.raw.off('close', stop)
    leaveDrain()
    leaveToken()
    cancel()
    feed.leave()
    leaveCount()
  }
}

/** Sends messages for at most a minute. */
export async function followStream(
  context: HttpContext,
  feeds: StreamFeeds,
  { request, reply }: Exchange,
  { stream, from, cursor }: LiveRead,
) {
  const { clock, log } = context.deps
  const feed = feeds.enter(stream)
  const over = new AbortController()
  try {
    const isAuthorized = stillAuthorized(context, operations.readRunStream, request)
    const sse = new SseStream(reply, context, { actor: request.actor, isAuthorized, onEnd: () => over.abort() })
    const cancel = clock.after(SSE_MS, () => sse.end())
    try {
      await sendParts({ feed, from, signal: over.signal }, part => sse.write(sseBytes(part, cursor)))
      sse.end()
    } catch (err) {
      log.error({ err, requestId: request.id, runId: stream.runId }, 'an output stream could not be sent')
      sse.abort()
    } finally {
      cancel()
    }
  } finally {
    feed.leave()
  }
}
