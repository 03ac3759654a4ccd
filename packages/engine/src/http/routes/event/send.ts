// Reads the bodies of events that are sent, and sends them. Called by events.ts, for one event and for a batch.

import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type BatchedEventReply,
  DURATION_FORMS,
  EVENTS_OF_BATCH_MAX,
  parseDurationMs,
  type SendEvent,
  type SendEventReply,
} from '@perdure/protocol'
import { operations } from '@perdure/protocol/operations'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { EngineError, invalid } from '../../../domain/model/errors.ts'
import { arrayElements, type JsonText, objectMember } from '../../../domain/text/json-text.ts'
import { readTraceparent } from '../../../domain/text/traceparent.ts'
import type { IncomingEvent } from '../../../services/event/ingest.ts'
import type { Later } from '../../../services/event/scheduled-events.ts'
import { accept } from '../../access/accept.ts'
import type { HttpContext } from '../../access/context.ts'
import type { HttpDeps } from '../../access/deps.ts'
import { type Body, bodyOf } from '../../request/body.ts'
import { HTTP_LIMITS } from '../../request/limits.ts'
import { timestamp as readTimestamp } from '../../request/timestamp.ts'
import { warningsOf } from '../../request/unknown.ts'
import { checkEventName, checkName, validator } from '../../request/validate.ts'
import { problemOf } from '../../response/problem.ts'

const checkEvent = validator(operations.sendEvent.body.schema)
/** Events of a batch that are read in one turn of the event loop. */
const EVENTS_PER_TURN = 25

/** An event as it was sent, checked. */
export interface SentEvent {
  event: IncomingEvent
  /** Present only if the event does not arrive at once. */
  later: Later | undefined
  /** Sentences about members of the body that the engine does not know. */
  warnings: readonly string[]
}

/** The checked body, with the exact text of `data`. */
export function sentEvent(body: Body | undefined, traceparent: FastifyRequest['headers'][string]): SentEvent {
  const checked = checkEvent(body?.value)
  // The event would be sent, with a warning, although elsewhere the member means that nothing happens.
  if (Object.hasOwn(checked, 'dryRun')) throw invalid('dryRun', 'is a query parameter: POST /events?dryRun=1')
  const { name, app, dedupeId, runner, targetApp, attributes } = checked
  checkEventName('name', name)
  checkName('app', app)
  checkName('dedupeId', dedupeId)
  checkName('runner', runner)
  checkName('targetApp', targetApp)
  const event: IncomingEvent = { name }
  const trace = readTraceparent(traceparent)
  if (trace !== undefined) event.trace = trace
  if (app !== undefined) event.app = app
  if (dedupeId !== undefined) event.dedupeId = dedupeId
  if (runner !== undefined) event.runner = runner
  if (targetApp !== undefined) event.targetApp = targetApp
  if (attributes !== undefined) event.attributes = attributes
  const data = body && objectMember(body.text, 'data')
  if (data !== undefined) event.data = data
  return { event, later: laterOf(checked), warnings: warningsOf(body?.value, operations.sendEvent) }
}

/** Sends the event, now or later. Resolves when that is durable. */
export async function send(
  deps: Pick<HttpDeps, 'ingest' | 'scheduledEvents'>,
  namespace: string,
  sent: SentEvent,
): Promise<SendEventReply> {
  return withWarnings(await deps.ingest.send(namespace, incoming(deps, sent)), sent)
}

/** The event with the time of its arrival. @throws EngineError `invalid_request` for a time that is too far away. */
function incoming({ scheduledEvents }: Pick<HttpDeps, 'scheduledEvents'>, { event, later }: SentEvent): IncomingEvent {
  return later ? { ...event, at: scheduledEvents.arrivalTime(later) } : event
}

/** Adds the warnings; the answer to a duplicate has no other member. */
function withWarnings(reply: SendEventReply, { warnings }: SentEvent): SendEventReply {
  return reply.eventId === undefined ? reply : warned(reply, warnings)
}

/** The reply with the warnings of the request before its own. */
export function warned<T extends { warnings?: string[] }>(reply: T, warnings: readonly string[]): T {
  return warnings.length === 0 ? reply : { ...reply, warnings: [...warnings, ...(reply.warnings ?? [])] }
}

/** Sends the events of a batch when the sender's turn comes. */
export function acceptBatch(context: HttpContext, reply: FastifyReply): Promise<JsonText[]> {
  const { request } = reply
  const events = bodyOf(request)?.value
  const count = Array.isArray(events) ? events.length : 1
  return accept(context, reply, () => sendBatch(context.deps, request), { count })
}

/**
 * Sends the events of a body that is a list, in order. Resolves with the JSON of their replies when all are durable. A refused
 * event has its error in its place.
 */
async function sendBatch(
  deps: Pick<HttpDeps, 'ingest' | 'scheduledEvents'>,
  request: FastifyRequest,
): Promise<JsonText[]> {
  const { namespace } = request.actor
  const { traceparent } = request.headers
  const replies: BatchedEventReply[] = []
  const accepted: { at: number; sent: SentEvent; event: IncomingEvent }[] = []
  for (const [at, item] of itemsOf(bodyOf(request)).entries()) {
    if (at > 0 && at % EVENTS_PER_TURN === 0) await nextTurn()
    try {
      checkSize(item)
      const sent = sentEvent(item, traceparent)
      accepted.push({ at, sent, event: incoming(deps, sent) })
    } catch (error) {
      replies[at] = { error: problemOf(error) }
    }
  }
  const events = accepted.map(({ event }) => event)
  for (const [i, reply] of (await deps.ingest.sendAll(namespace, events)).entries()) {
    const { at, sent } = accepted[i] as (typeof accepted)[number]
    replies[at] = reply instanceof Error ? { error: problemOf(reply) } : withWarnings(reply, sent)
  }
  return replies.map(reply => JSON.stringify(reply))
}

/** The events of the list, each with its exact text. */
function itemsOf(body: Body | undefined): Body[] {
  if (!Array.isArray(body?.value)) throw invalid('body', 'must be a list of events')
  const { text, value } = body as { text: JsonText; value: unknown[] }
  if (value.length > EVENTS_OF_BATCH_MAX) throw invalid('body', `must not have more than ${EVENTS_OF_BATCH_MAX} events`)
  return arrayElements(text).map((item, i) => ({ text: item, value: value[i] }))
}

function checkSize({ text }: Body): void {
  const limit = HTTP_LIMITS.bodyMax
  if (Buffer.byteLength(text) <= limit) return
  throw new EngineError('payload_too_large', `an event must not have more than ${limit} bytes`, { details: { limit } })
}

function laterOf({ at, delay }: SendEvent): Later | undefined {
  if (at === undefined && delay === undefined) return undefined
  if (at !== undefined && delay !== undefined) throw invalid('at', 'cannot be given with delay')
  if (at !== undefined) return { at: readTimestamp('at', at) }
  const delayMs = parseDurationMs(delay as string | number)
  if (delayMs === undefined) throw invalid('delay', `must be ${DURATION_FORMS}`)
  return { delayMs: Math.ceil(delayMs) }
}
