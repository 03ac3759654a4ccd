// `GET /runs/stream` and `GET /events/stream`: the new statuses and events of a namespace from the moment of connecting
// (docs/concepts.md#timeline-and-streams). Nothing is replayed: a client that does not keep up is dropped, and reconnects.

import type { RunStatusFrame } from '@perdure/protocol'
import { type Operation, operations } from '@perdure/protocol/operations'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Event } from '../../../domain/model/event.ts'
import { shownRunId } from '../../../domain/text/ids.ts'
import { timestamp } from '../../../domain/text/timestamp.ts'
import type { RunMove, Topic } from '../../../services/live/live.ts'
import { stillAuthorized } from '../../access/authorize.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { FRAME_BYTES } from '../../live/broadcast.ts'
import { FanOut } from '../../live/fan-out.ts'
import { SseStream, sseMessage } from '../../live/sse.ts'
import { eventFrame } from './present-event.ts'

/** Approximate bytes of a `run_status` frame without an error. */
const RUN_FRAME_BYTES = 240

export function namespaceStreamRoutes(app: FastifyInstance, context: HttpContext): void {
  const { moves, events } = context.deps.live
  const followMoves = follower(context, operations.streamRuns, {
    topic: moves,
    encode: runMessage,
    sizeOf: ({ error }) => RUN_FRAME_BYTES + (error?.message.length ?? 0),
  })
  const followEvents = follower(context, operations.streamEvents, {
    topic: events,
    encode: eventMessage,
    sizeOf: ({ data }) => FRAME_BYTES + (data?.length ?? 0),
  })
  mount(app, context, operations.streamRuns, async (request, reply) => followMoves(request, reply))
  mount(app, context, operations.streamEvents, async (request, reply) => followEvents(request, reply))
}

/** A handler that sends each item published for the client's namespace, until the client leaves. */
function follower<T>(
  context: HttpContext,
  operation: Operation,
  published: { topic: Topic<T>; encode(item: T): string; sizeOf(item: T): number },
): (request: FastifyRequest, reply: FastifyReply) => void {
  const fanOut = new FanOut({ ...published, clock: context.deps.clock, gaps: context.deps.live })
  return (request, reply) => {
    let leave = (): void => {}
    const isAuthorized = stillAuthorized(context, operation, request)
    const { actor } = request
    const stream = new SseStream(reply, context, { actor, isAuthorized, onEnd: () => leave() })
    if (stream.open) leave = fanOut.join(actor.namespace, stream)
  }
}

function runMessage({ ts, runId: id, ...move }: RunMove): string {
  const kind = 'run_status'
  const runId = shownRunId(id)
  const { seq, workflow, app, status, attempt, currentStepName, error } = move
  const head = { kind, seq, ts: timestamp(ts), runId, workflow, app, status } as const
  const frame: RunStatusFrame = { ...head, currentStepName, attempt, error }
  return sseMessage({ event: kind, data: JSON.stringify(frame) })
}

/** The message of an event in the streams of events. */
export function eventMessage(event: Event): string {
  // The data is the sender's text, perhaps with line breaks, which in JSON are only between tokens.
  return sseMessage({ event: 'event', data: eventFrame(event).replace(/[\r\n]/g, ' ') })
}
