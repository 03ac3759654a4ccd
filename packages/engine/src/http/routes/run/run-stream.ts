// `GET /runs/{id}/stream`: a run's timeline, from the store and then live until the run ends
// (docs/concepts.md#timeline-and-streams). The store is read first, and again whenever published frames do not directly follow
// the sent ones, so that no frame is lost or repeated.

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isTerminal } from '../../../domain/model/run.ts'
import { publicFrames } from '../../../domain/view/public-view.ts'
import { stillAuthorized } from '../../access/authorize.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import type { RunFeeds } from '../../live/run-feed.ts'
import { RunReader } from '../../live/run-reader.ts'
import { SseStream } from '../../live/sse.ts'
import { Timeline } from '../../live/timeline.ts'
import { clampedInteger, notFound, pathId } from '../../request/query.ts'

export function runStreamRoutes(app: FastifyInstance, context: HttpContext, feeds: RunFeeds): void {
  const { deps, limits } = context

  mount(app, context, operations.streamRun, async (request, reply, query) => {
    const runId = pathId(request, 'run')
    const { actor } = request
    // A browser reconnects to the same URL, with the last seq that it has seen in a header.
    const seen = lastEventId(request)
    const from = Math.max(query.from ?? 0, seen)
    // Before the first read, so that each later commit notifies the feed.
    const feed = feeds.enter(actor.namespace, runId)
    try {
      const reads = deps.store.in(actor.namespace)
      const timeline = new Timeline({ reads, runId, limit: limits.pageFrames }, from)
      const firstPage = await timeline.read()
      if (firstPage.status === undefined) throw notFound('run')
      // An `EventSource` reconnects to every stream that has ended, except after a 204.
      const isPublic = actor.runToken !== undefined
      const frames = isPublic ? publicFrames(firstPage.frames) : firstPage.frames
      if (seen > 0 && frames.length === 0 && !firstPage.more && isTerminal(firstPage.status))
        return reply.code(204).send()
      const isAuthorized = stillAuthorized(context, operations.streamRun, request)
      const reader = new RunReader({ feed, timeline, ids: true, isPublic })
      const stream = new SseStream(reply, context, { actor, isAuthorized, onEnd: () => reader.stop() })
      try {
        await reader.send(stream, firstPage)
        stream.end()
      } catch (err) {
        deps.log.error({ err, requestId: request.id, runId }, 'run stream failed')
        stream.abort()
      }
    } finally {
      feed.leave()
    }
  })
}

/** Reads the standard header of a reconnecting client: the seq of the last frame that it has seen. */
function lastEventId(request: FastifyRequest): number {
  const seen = request.headers['last-event-id']
  if (typeof seen !== 'string' || seen === '') return 0
  return clampedInteger('Last-Event-ID', seen, operations.streamRun.query.from)
}
