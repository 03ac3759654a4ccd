// `GET /runs/{id}/stream`: a run's timeline, replayed from the store and tailed until the run ends (contract
// §2.3, §4.1). The store is the truth: it is read first, and again whenever frames that were told do not follow on those
// that were sent, so no frame is lost or repeated.

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isTerminal } from '../../../domain/model/run.ts'
import { frameText, type StoredFrame } from '../../../domain/view/timeline-frames.ts'
import type { Reads, TimelinePage } from '../../../ports/store-reads.ts'
import { admission } from '../../access/admit.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { isEnd, RunTail } from '../../live/run-tail.ts'
import { SseStream, sseMessage } from '../../live/sse.ts'
import { clampedInteger, notFound, pathId } from '../../request/query.ts'

export function runStreamRoutes(app: FastifyInstance, context: HttpContext): void {
  const { deps, limits } = context

  mount(app, context, operations.streamRun, async (request, reply, query) => {
    const runId = pathId(request, 'run')
    // A browser that reconnects asks for the same URL, and says in the header what it has seen since.
    const from = Math.max(query.from ?? 0, lastEventId(request))
    const reads = deps.store.in(request.actor.namespace)
    const tail = new RunTail()
    // Before the first read: what is committed after that read must be told.
    const stopListening = deps.live.runs.on(runId, frames => tail.tell(frames))
    const timeline = new Timeline(reads, runId, from, limits.pageFrames)
    try {
      const page = await timeline.read()
      if (page.status === undefined) throw notFound('run')
      const isAdmitted = admission(context, operations.streamRun, request)
      const stream = new SseStream(reply, context, { isAdmitted, onEnd: () => tail.ring() })
      try {
        await sendTimeline(context, { stream, tail, timeline, page })
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

/** Where a client that comes back says, by the standard header, that it had got to. */
function lastEventId(request: FastifyRequest): number {
  const seen = request.headers['last-event-id']
  if (typeof seen !== 'string' || seen === '') return 0
  return clampedInteger('Last-Event-ID', seen, operations.streamRun.query.from)
}

/** Reads a run's timeline on and on. */
class Timeline {
  readonly #reads: Reads
  readonly #runId: string
  readonly #limit: number
  #openFrom = 0
  /** The seq of the last frame that was read or told. */
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
  /** The first. */
  page: TimelinePage
}

/** Sends pages, one at a time, until the run's last frame is out or the stream is closed. */
async function sendTimeline(context: HttpContext, { stream, tail, timeline, page }: Sending): Promise<void> {
  let next = page
  for (;;) {
    if (next.frames.length > 0) await stream.write(messages(next.frames))
    if (!next.more) {
      if (next.status === undefined || isTerminal(next.status)) return
      if (await sendTold(context, { stream, tail, timeline })) return
    }
    if (!stream.open) return
    next = await timeline.read()
  }
}

/** Sends what is told, as long as nothing of it is missing. True when that was the run's last frame. */
async function sendTold(
  { deps: { clock }, limits }: HttpContext,
  { stream, tail, timeline }: Omit<Sending, 'page'>,
): Promise<boolean> {
  // The stream may have closed while we were busy; its ring is remembered, so the wait ends at once.
  while (stream.open) {
    const frames = await tail.next(timeline.after, clock, clock.now() + limits.rereadMs)
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
  return frames
    .map(frame => sseMessage({ id: frame.seq, event: frame.kind, data: frameText(frame) }))
    .join('')
}
