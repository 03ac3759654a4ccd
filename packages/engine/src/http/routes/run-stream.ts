// `GET /runs/{id}/stream`: a run's timeline, replayed from the store and tailed until the run ends (contract
// §2.3, §4.1). The store is the truth and a ring only says when to look, so no frame is lost or repeated.

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isTerminal } from '../../domain/run.ts'
import type { Reads, TimelinePage } from '../../ports/store.ts'
import { Bell } from '../bell.ts'
import type { HttpContext } from '../context.ts'
import { mount } from '../mount.ts'
import { clampedInteger, notFound, pathId } from '../query.ts'
import { SseStream, sseMessage } from '../sse.ts'

export function runStreamRoutes(app: FastifyInstance, context: HttpContext): void {
  const { deps } = context

  mount(app, context, operations.streamRun, async (request, reply, query) => {
    const runId = pathId(request, 'run')
    const from = query.from ?? lastEventId(request)
    const reads = deps.store.in(request.actor.namespace)
    const bell = new Bell()
    // Before the first read: what is committed after that read must ring.
    const stopListening = deps.live.runs.on(runId, () => bell.ring())
    try {
      const told = await reads.status(runId)
      if (!told) throw notFound('run')
      const stream = new SseStream(reply, context, () => bell.ring())
      try {
        await sendTimeline(context, { stream, bell, reads, runId, from, ended: isTerminal(told.status) })
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

interface Tail {
  stream: SseStream
  bell: Bell
  reads: Reads
  runId: string
  from: number
  /** Whether the run had ended before the first read of its timeline. */
  ended: boolean
}

/** Sends pages, one at a time, until the run's last frame is out or the stream is closed. */
async function sendTimeline({ deps: { clock }, limits }: HttpContext, tail: Tail): Promise<void> {
  const { stream, bell, reads, runId } = tail
  const position = { after: tail.from, openFrom: 0, limit: limits.pageFrames }
  let ended = tail.ended
  while (stream.open) {
    const page = await reads.timeline(runId, position)
    position.openFrom = page.openFrom
    const last = page.frames.at(-1)
    if (last) {
      position.after = last.seq
      ended ||= page.frames.some(frame => frame.kind === 'run_status' && isTerminal(frame.status))
      await stream.write(messages(page))
      if (page.more) continue
    }
    if (ended) return
    // A client may ask to start after a seq that the run will never reach: then no frame tells the end.
    if (position.after === tail.from && tail.from > 0) {
      ended = await hasEnded(reads, runId)
      if (ended) continue
    }
    // The stream may have closed while we were busy; its ring is remembered, so this wait ends at once.
    await bell.wait(clock, clock.now() + limits.rereadMs)
  }
}

function messages(page: TimelinePage): string {
  return page.frames
    .map(frame => sseMessage({ id: frame.seq, event: frame.kind, data: JSON.stringify(frame) }))
    .join('')
}

async function hasEnded(reads: Reads, runId: string): Promise<boolean> {
  const told = await reads.status(runId)
  return !told || isTerminal(told.status)
}
