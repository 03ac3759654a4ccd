// `GET /runs/stream` and `GET /events/stream`: a namespace live, from the moment of connecting on (contract §4.1,
// §4.4, §6). Nothing is replayed or kept for later: a client that does not keep up is dropped, and comes back.

import type { RunStatusFrame } from '@perdure/protocol'
import { type Operation, operations } from '@perdure/protocol/operations'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Event } from '../../../domain/model/event.ts'
import { timestamp } from '../../../domain/text/timestamp.ts'
import type { RunMove, Topic } from '../../../services/live/live.ts'
import { admission } from '../../access/admit.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { SseStream, sseMessage } from '../../live/sse.ts'
import { eventFrame } from './present-event.ts'

export function namespaceStreamRoutes(app: FastifyInstance, context: HttpContext): void {
  const { moves, events } = context.deps.live
  const followMoves = follower(context, operations.streamRuns, moves, runMessage)
  const followEvents = follower(context, operations.streamEvents, events, eventMessage)
  mount(app, context, operations.streamRuns, async (request, reply) => followMoves(request, reply))
  mount(app, context, operations.streamEvents, async (request, reply) => followEvents(request, reply))
}

/** Sends one client all that is told of its namespace, from now until it leaves. */
function follower<T extends object>(
  context: HttpContext,
  operation: Operation,
  topic: Topic<T>,
  message: (told: T) => string,
): (request: FastifyRequest, reply: FastifyReply) => void {
  const bytesOf = writtenOnce(message)
  return (request, reply) => {
    let stopListening = (): void => {}
    const isAdmitted = admission(context, operation, request)
    const stream = new SseStream(reply, context, { isAdmitted, onEnd: () => stopListening() })
    if (!stream.open) return
    stopListening = topic.on(request.actor.namespace, told => stream.offer(bytesOf(told)))
  }
}

/** The same bytes for every client: what is told goes to one after the other before the next is told. */
function writtenOnce<T extends object>(message: (told: T) => string): (told: T) => Buffer {
  let last: { told: T; bytes: Buffer } | undefined
  return told => {
    if (last?.told !== told) last = { told, bytes: Buffer.from(message(told)) }
    return last.bytes
  }
}

function runMessage({ runId, seq, ts, status, attempt }: RunMove): string {
  const kind = 'run_status'
  const frame: RunStatusFrame = { kind, seq, ts: timestamp(ts), runId, status, attempt }
  return sseMessage({ event: kind, data: JSON.stringify(frame) })
}

function eventMessage(event: Event): string {
  // The data is as it was sent, perhaps over several lines. Between the tokens of JSON a space is as good.
  return sseMessage({ event: 'event', data: eventFrame(event).replace(/[\r\n]/g, ' ') })
}
