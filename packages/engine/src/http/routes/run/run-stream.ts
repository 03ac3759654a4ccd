// `GET /runs/{id}/stream`: a run's timeline, from the store and then live until the run ends
// (docs/concepts.md#timeline-and-streams). The store is read first, and again whenever published frames do not follow on
// the sent ones, so that no frame is lost or repeated.

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isTerminal } from '../../../domain/model/run.ts'
import { frameText, type StoredFrame } from '../../../domain/view/timeline-frames.ts'
import type { Reads, TimelinePage } from '../../../ports/store-reads.ts'
import { stillAuthorized } from '../../access/authorize.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { isEnd, RunTail } from '../../live/run-tail.ts'
import { SseStream, sseMessage } from '../../live/sse.ts'
import { clampedInteger, notFound, pathId } from '../../request/query.ts'

export function runStreamRoutes(app: FastifyInstance, context: HttpContext): void {
  const { deps, limits } = context

  mount(app, context, operations.streamRun, async (request, reply, query) => {
    const runId = pathId(request, 'run')
    // A browser reconnects to the same URL, and names the last seq that it has seen in a header.
    const from = Math.max(query.from ?? 0, lastEventId(request))
    const reads = deps.store.in(request.actor.namespace)
    const tail = new RunTail()
    // Before the first read, so that each later commit notifies the tail.
    const stopListening = deps.live.runs.on(runId, frames => tail.notify(frames))
    const timeline = new Timeline(reads, runId, from, limits.pageFrames)
    try {
      const firstPage = await timeline.read()
      if (firstPage.status === undefined) throw notFound('run')
      const isAuthorized = stillAuthorized(context, operations.streamRun, request)
      const { actor } = request
      const stream = new SseStream(reply, context, { actor, isAuthorized, onEnd: () => tail.endWait() })
      try {
        await sendTimeline(context, { stream, tail, timeline, firstPage })
        stream.end()
      } catch (err) {
        deps.log.error({ err, requestId: request.id, runId }, 'run stream failed')
        stream.abort()
      }
    } finally {
      stopListening()
    }
  })
}

/** The standard header of a client that reconnects: the seq of the last frame that it has seen. */
function lastEventId(request: FastifyRequest): number {
  const seen = request.headers['last-event-id']
  if (typeof seen !== 'string' || seen === '') return 0
  return clampedInteger('Last-Event-ID', seen, operations.streamRun.query.from)
}

/** Reads a run's timeline page by page. */
class Timeline {
  readonly #reads: Reads
  readonly #runId: string
  readonly #limit: number
  #openFrom = 0
  /** Seq of the last frame that was read from the store or taken from the tail. */
  after: number

  constructor(reads: Reads, runId: string, after: number, limit: number) {
    this.#reads = reads
    this.#runId = runId
    this.#limit = limit
    this.after = after
  }

  async read(): Promise<TimelinePage> {
    const position = { after: this.after, openFrom: this.#openFrom, limit: this.#limit }
    const page = await this.#reads.timeline(this.#runId, position)
    this.#openFrom = page.openFrom
    this.after = page.frames.at(-1)?.seq ?? this.after
    return page
  }
}

interface Sending {
  stream: SseStream
  tail: RunTail
  timeline: Timeline
  firstPage: TimelinePage
}

/** Sends pages, one at a time, until the run's last frame is out or the stream is closed. */
async function sendTimeline(context: HttpContext, { stream, tail, timeline, firstPage }: Sending): Promise<void> {
  let page = firstPage
  for (;;) {
    if (page.frames.length > 0) await stream.write(messages(page.frames))
    if (!page.more) {
      if (page.status === undefined || isTerminal(page.status)) return
      if (await sendTail(context, { stream, tail, timeline })) return
    }
    if (!stream.open) return
    page = await timeline.read()
  }
}

/** Sends frames from the tail while none is missing. True after the run's last frame. */
async function sendTail(
  { deps: { clock }, limits }: HttpContext,
  { stream, tail, timeline }: Omit<Sending, 'firstPage'>,
): Promise<boolean> {
  // If the stream has closed in between, `endWait` makes the wait return at once.
  while (stream.open) {
    const frames = await tail.next(timeline.after, clock, limits.rereadMs)
    if (!frames) return false
    const last = frames.at(-1)
    if (!last) continue
    timeline.after = last.seq
    await stream.write(messages(frames))
    if (isEnd(last)) return true
  }
  return false
}

function messages(frames: readonly StoredFrame[]): string {
  return frames.map(frame => sseMessage({ id: frame.seq, event: frame.kind, data: frameText(frame) })).join('')
}
