// `GET /stream`: runs, events, deliveries, the timelines of single runs and bulk jobs on one connection
// (docs/concepts.md#timeline-and-streams).

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { offsetOf } from '../../../domain/streams/messages.ts'
import { shownRunId } from '../../../domain/text/ids.ts'
import { timestamp } from '../../../domain/text/timestamp.ts'
import type { RunUpdate } from '../../../domain/view/run-updates.ts'
import { progressFrame, progressText } from '../../../domain/view/timeline-frames.ts'
import type { TimelinePage } from '../../../ports/store-reads.ts'
import type { ProgressMove } from '../../../services/live/live.ts'
import type { BulkView } from '../../../services/run/bulk.ts'
import { stillAuthorized } from '../../access/authorize.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { BulkFeeds, type BulkState } from '../../live/bulk-feed.ts'
import type { RunFeed, RunFeeds } from '../../live/run-feed.ts'
import { RunReader } from '../../live/run-reader.ts'
import { SseStream, sseMessage } from '../../live/sse.ts'
import type { StreamFeed, StreamFeeds, StreamPart } from '../../live/stream-feed.ts'
import { Timeline } from '../../live/timeline.ts'
import { TopicGroups } from '../../live/topic-groups.ts'
import { isId, notFound } from '../../request/query.ts'
import { eventMessage } from '../event/namespace-streams.ts'
import { presentBulk } from '../run/bulk.ts'
import { updateFrame } from '../run/present.ts'
import { sendParts } from '../run-streams/stream-sender.ts'
import { deliveryFrame } from '../webhook/deliveries.ts'
import { type Positions, readTopics, type StreamTopic } from './stream-topics.ts'

/** The timeline of one run on the stream. */
interface OpenRun {
  feed: RunFeed
  reader: RunReader
  firstPage: TimelinePage
}

/** An output stream on the stream. */
interface OpenOutput {
  topic: StreamTopic
  feed: StreamFeed
}

interface Feeds {
  runFeeds: RunFeeds
  streamFeeds: StreamFeeds
}

export function topicStreamRoute(app: FastifyInstance, context: HttpContext, { runFeeds, streamFeeds }: Feeds): void {
  const { deps, limits } = context
  const encoders = { run: runMessage, progress: progressMessage, event: eventMessage, delivery: deliveryMessage }
  const groups = new TopicGroups({ live: deps.live, clock: deps.clock, encoders })

  const bulks = new BulkFeeds({
    live: deps.live,
    clock: deps.clock,
    rereadMs: limits.rereadMs,
    read: async ({ namespace, bulkId }) => bulkState(await deps.bulk.read(namespace, bulkId), deps.clock.now()),
  })

  mount(app, context, operations.streamTopics, async (request, reply, query) => {
    const { topics, positions, streams, bulkIds } = readTopics(query.topics)
    const { actor } = request
    const { namespace } = actor
    // Throws `not_found` for a job that does not exist.
    for (const id of bulkIds) await deps.bulk.read(namespace, isId(id) ? id : '')
    const runs = await openRuns(context, runFeeds, { namespace, positions })
    const outputs = await openOutputs(context, streamFeeds, { namespace, streams }).catch(error => {
      for (const { feed } of runs) feed.leave()
      throw error
    })
    const over = new AbortController()
    let leave = (): void => {}
    const onEnd = (): void => {
      leave()
      over.abort()
      for (const { reader } of runs) reader.stop()
    }
    try {
      const isAuthorized = stillAuthorized(context, operations.streamTopics, request)
      const stream = new SseStream(reply, context, { actor, isAuthorized, onEnd })
      if (!stream.open) return
      const { app, workflow, every: everyMs } = query
      const leaveGroup = groups.join({ namespace, topics, app, workflow, everyMs }, stream)
      const leaveBulks = bulkIds.map(bulkId => bulks.join({ namespace, bulkId, everyMs }, stream))
      deps.live.topicStreams++
      leave = () => {
        leaveGroup()
        for (const leaveBulk of leaveBulks) leaveBulk()
        deps.live.topicStreams--
      }
      await Promise.all([
        ...runs.map(({ reader, firstPage }) => reader.send(stream, firstPage)),
        ...outputs.map(({ topic, feed }) =>
          sendParts({ feed, from: topic.from, signal: over.signal }, part => stream.write(outputMessage(topic, part))),
        ),
      ]).catch(err => {
        deps.log.error({ err, requestId: request.id }, 'stream failed')
        stream.abort()
      })
    } finally {
      for (const { feed } of [...runs, ...outputs]) feed.leave()
    }
  })
}

/** Reads the first page of each run; throws `not_found`, naming a run that does not exist. */
async function openRuns(
  { deps, limits }: HttpContext,
  feeds: RunFeeds,
  { namespace, positions }: { namespace: string; positions: Positions },
): Promise<OpenRun[]> {
  const reads = deps.store.in(namespace)
  const runIds = [...positions.keys()]
  const unusable = runIds.find(id => !isId(id))
  if (unusable !== undefined) throw notFound(`run ${unusable}`)
  const stored = await reads.storedIds(runIds)
  const opened: OpenRun[] = []
  try {
    for (const [i, [givenId, after]] of [...positions].entries()) {
      const runId = stored[i] as string
      // Before the first read, so that each later commit notifies the feed.
      const feed = feeds.enter(namespace, runId)
      const timeline = new Timeline({ reads, runId, limit: limits.pageFrames }, after)
      const reader = new RunReader({ feed, timeline, ids: false })
      const firstPage = await timeline.read().catch(error => {
        feed.leave()
        throw error
      })
      opened.push({ feed, reader, firstPage })
      if (firstPage.status === undefined) throw notFound(`run ${givenId}`)
    }
  } catch (error) {
    for (const { feed } of opened) feed.leave()
    throw error
  }
  return opened
}

/** Enters the feed of each output stream; throws `not_found`, naming a run that does not exist. */
async function openOutputs(
  { deps }: HttpContext,
  feeds: StreamFeeds,
  { namespace, streams }: { namespace: string; streams: readonly StreamTopic[] },
): Promise<OpenOutput[]> {
  if (streams.length === 0) return []
  const unusable = streams.find(({ runId }) => !isId(runId))
  if (unusable) throw notFound(`run ${unusable.runId}`)
  const reads = deps.store.in(namespace)
  const stored = await reads.storedIds(streams.map(({ runId }) => runId))
  for (const [i, { runId }] of streams.entries())
    if (!(await reads.status(stored[i] as string))) throw notFound(`run ${runId}`)
  return streams.map(({ name, from }, i) => {
    const runId = stored[i] as string
    return { topic: { runId, name, from }, feed: feeds.enter({ namespace, runId, name }) }
  })
}

function outputMessage({ runId, name }: StreamTopic, { text, next }: StreamPart): Buffer {
  const head = JSON.stringify({ kind: 'stream', runId: shownRunId(runId), name, offset: offsetOf(next) })
  return Buffer.from(sseMessage({ event: 'stream', data: `${head.slice(0, -1)},"messages":${text}}` }))
}

function runMessage(update: RunUpdate): string {
  return sseMessage({ event: 'run_status', data: JSON.stringify(updateFrame(update)) })
}

function progressMessage({ runId, workflow, app, at, seq, value }: ProgressMove): string {
  const frame = { ...progressFrame(runId, { at, seq, value }), workflow, app }
  return sseMessage({ event: 'progress', data: progressText(frame) })
}

function bulkState(job: BulkView, now: number): BulkState {
  const shown = presentBulk(job)
  const data = JSON.stringify({ kind: 'bulk', ts: timestamp(now), ...shown })
  const bytes = Buffer.from(sseMessage({ event: 'bulk', data }))
  return { text: JSON.stringify(shown), bytes, isOver: job.status !== 'running' }
}

function deliveryMessage(delivery: Parameters<typeof deliveryFrame>[0]): string {
  return sseMessage({ event: 'delivery', data: JSON.stringify(deliveryFrame(delivery)) })
}
