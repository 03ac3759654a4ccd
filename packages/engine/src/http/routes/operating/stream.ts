// `GET /stream`: runs, events, deliveries and the timelines of single runs on one connection
// (docs/concepts.md#timeline-and-streams).

import { operations, type QueryValues, STREAM_TOPICS } from '@perdure/protocol/operations'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { invalid } from '../../../domain/model/errors.ts'
import type { RunUpdate } from '../../../domain/view/run-updates.ts'
import type { TimelinePage } from '../../../ports/store-reads.ts'
import { stillAuthorized } from '../../access/authorize.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import type { RunFeed, RunFeeds } from '../../live/run-feed.ts'
import { RunReader } from '../../live/run-reader.ts'
import { SseStream, sseMessage } from '../../live/sse.ts'
import { Timeline } from '../../live/timeline.ts'
import { NAMESPACE_TOPICS, type NamespaceTopic, TopicGroups } from '../../live/topic-groups.ts'
import { isId, notFound } from '../../request/query.ts'
import { eventMessage } from '../event/namespace-streams.ts'
import { updateFrame } from '../run/present.ts'
import { deliveryFrame } from '../webhook/deliveries.ts'

type StreamQuery = QueryValues<typeof operations.streamTopics.query>

const RUN_TOPIC = 'run:'

/** The timeline of one run on the stream. */
interface OpenRun {
  feed: RunFeed
  reader: RunReader
  firstPage: TimelinePage
}

export function topicStreamRoute(app: FastifyInstance, context: HttpContext, feeds: RunFeeds): void {
  const { deps } = context
  const encoders = { run: runMessage, event: eventMessage, delivery: deliveryMessage }
  const groups = new TopicGroups({ live: deps.live, clock: deps.clock, encoders })

  mount(app, context, operations.streamTopics, async (request, reply, query) => {
    const { topics, runIds } = readTopics(query)
    const { actor } = request
    const { namespace } = actor
    const runs = await openRuns(context, feeds, { namespace, runIds })
    let leave = (): void => {}
    const onEnd = (): void => {
      leave()
      for (const { reader } of runs) reader.stop()
    }
    try {
      const isAuthorized = stillAuthorized(context, operations.streamTopics, request)
      const stream = new SseStream(reply, context, { actor, isAuthorized, onEnd })
      if (!stream.open) return
      const { app, workflow, every: everyMs } = query
      const leaveGroup = groups.join({ namespace, topics, app, workflow, everyMs }, stream)
      deps.live.topicStreams++
      leave = () => {
        leaveGroup()
        deps.live.topicStreams--
      }
      await sendRuns(context, request, { stream, runs })
    } finally {
      for (const { feed } of runs) feed.leave()
    }
  })
}

/** Sends the timelines until each run has ended. Afterwards the stream stays open for its other topics. */
async function sendRuns(
  { deps }: HttpContext,
  request: FastifyRequest,
  { stream, runs }: { stream: SseStream; runs: readonly OpenRun[] },
): Promise<void> {
  await Promise.all(
    runs.map(({ reader, firstPage }) =>
      reader.send(stream, firstPage).catch(err => {
        deps.log.error({ err, requestId: request.id }, 'stream failed')
        stream.abort()
      }),
    ),
  )
}

function readTopics({ topics: given = [] }: StreamQuery): { topics: NamespaceTopic[]; runIds: string[] } {
  const names = new Set(given)
  if (names.size === 0) throw invalid('topics', `must name at least one of ${STREAM_TOPICS}`)
  const topics = NAMESPACE_TOPICS.filter(topic => names.delete(topic))
  const runIds = [...names].map(name => {
    if (!name.startsWith(RUN_TOPIC)) throw invalid('topics', `must be some of ${STREAM_TOPICS}, not "${name}"`)
    return name.slice(RUN_TOPIC.length)
  })
  return { topics, runIds }
}

/** Reads the first page of each run; throws `not_found` naming one that does not exist. */
async function openRuns(
  { deps, limits }: HttpContext,
  feeds: RunFeeds,
  { namespace, runIds }: { namespace: string; runIds: readonly string[] },
): Promise<OpenRun[]> {
  const reads = deps.store.in(namespace)
  const opened: OpenRun[] = []
  try {
    for (const runId of runIds) {
      if (!isId(runId)) throw notFound(`run ${runId}`)
      // Before the first read, so that each later commit notifies the feed.
      const feed = feeds.enter(namespace, runId)
      const timeline = new Timeline({ reads, runId, limit: limits.pageFrames }, 0)
      const reader = new RunReader({ feed, timeline, ids: false })
      const firstPage = await timeline.read().catch(error => {
        feed.leave()
        throw error
      })
      opened.push({ feed, reader, firstPage })
      if (firstPage.status === undefined) throw notFound(`run ${runId}`)
    }
  } catch (error) {
    for (const { feed } of opened) feed.leave()
    throw error
  }
  return opened
}

function runMessage(update: RunUpdate): string {
  return sseMessage({ event: 'run_status', data: JSON.stringify(updateFrame(update)) })
}

function deliveryMessage(delivery: Parameters<typeof deliveryFrame>[0]): string {
  return sseMessage({ event: 'delivery', data: JSON.stringify(deliveryFrame(delivery)) })
}
