// `GET /runs/{id}/streams` and `GET /runs/{id}/streams/{name}`: the output streams of a run, by the read half of the Durable Streams
// protocol in its JSON mode (docs/streams.md#read-over-http).

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { EngineError, invalid } from '../../../domain/model/errors.ts'
import { isTerminal } from '../../../domain/model/run.ts'
import { offsetOf } from '../../../domain/streams/messages.ts'
import type { StreamName, StreamPage, StreamReads } from '../../../ports/stream-reads.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import type { StreamFeeds } from '../../live/stream-feed.ts'
import { notFound, pathId } from '../../request/query.ts'
import { sendJson } from '../../response/reply.ts'
import { followStream, pollStream } from './live-reads.ts'
import { NOW, type OpenedStream, START, sendMessages, sendText } from './stored-reads.ts'
import { pathName, presentStream, putPosition, tailOf } from './stream-answers.ts'
import { nextCursor } from './stream-cursor.ts'

export function runStreamsRoutes(app: FastifyInstance, context: HttpContext, feeds: StreamFeeds): void {
  const { store, clock, random } = context.deps
  const { streams } = store

  mount(app, context, operations.listRunStreams, async (request, reply) => {
    const runId = pathId(request, 'run')
    const found = await streams.list({ namespace: request.actor.namespace, runId })
    if (!found) throw notFound('run')
    const ended = isTerminal(found.status)
    return sendJson(reply, 200, JSON.stringify(found.heads.map(head => presentStream(head, ended))))
  })

  mount(app, context, operations.readRunStream, async (request, reply, { offset = START, live, cursor, text }) => {
    const hasOffset = (request.query as { offset?: unknown }).offset !== undefined
    if (live !== undefined && !hasOffset) throw invalid('offset', 'must be given with live')
    if (live !== undefined && text) throw invalid('text', 'must not be given with live')
    const stream = { namespace: request.actor.namespace, runId: pathId(request, 'run'), name: pathName(request) }
    const opened = await openStream(streams, stream, offset)
    const { page } = opened
    if (request.method === 'HEAD') {
      putPosition(reply, { next: tailOf(page), isUpToDate: true, isClosed: isTerminal(page.status) })
      return reply.code(200).headers({ 'content-type': 'application/json', 'cache-control': 'no-store' }).send()
    }
    if (text) return sendText(streams, reply, opened)
    if (live === undefined) return sendMessages(streams, { request, reply }, opened)
    const read = { ...opened, cursor: nextCursor(cursor, clock.now(), random.next()) }
    return (live === 'sse' ? followStream : pollStream)(context, feeds, { request, reply }, read)
  })
}

/** Reads the first page of a stream that exists, or may still be created. */
async function openStream(streams: StreamReads, stream: StreamName, offset: string): Promise<OpenedStream> {
  const isPosition = offset !== START && offset !== NOW
  const asked = isPosition ? Number(offset) : 0
  const page: StreamPage | undefined = await streams.page(stream, offset === NOW ? Number.MAX_SAFE_INTEGER : asked)
  if (!page) throw notFound('run')
  const { head, status } = page
  if (head?.dropped) throw new EngineError('gone', 'retention has dropped the messages of the stream')
  // A reader with an offset knew the stream while its run was live: it gets the end.
  if (!head && isTerminal(status) && !isPosition) throw notFound('stream')
  const tail = tailOf(page)
  if (asked > tail) throw invalid('offset', `must be at most ${offsetOf(tail)}, the end of the stream`)
  return { stream, offset, from: offset === NOW ? tail : asked, page }
}
