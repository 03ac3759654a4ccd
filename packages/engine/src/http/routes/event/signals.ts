// `/runs/{id}/signals` and `/runs/{id}/updates` (docs/signals.md): messages to one run, and its answers.

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { EngineError, invalid } from '../../../domain/model/errors.ts'
import type { Event } from '../../../domain/model/event.ts'
import { splice } from '../../../domain/text/json-splice.ts'
import { objectMember } from '../../../domain/text/json-text.ts'
import { isSignalName, SIGNAL_NAME_FAULT, signalOf } from '../../../domain/text/name.ts'
import { timestamp } from '../../../domain/text/timestamp.ts'
import { readTraceparent } from '../../../domain/text/traceparent.ts'
import type { SentSignal } from '../../../services/run/signals.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { bodyOf } from '../../request/body.ts'
import { isId, notFound, pathId } from '../../request/query.ts'
import { checkName, validator } from '../../request/validate.ts'
import { sendJson } from '../../response/reply.ts'
import { whileOpen } from '../run/results.ts'

const checkSignal = validator(operations.signalRun.body.schema)
/** Signals that a page shows. */
const LISTED_MAX = 100

export function signalRoutes(app: FastifyInstance, context: HttpContext): void {
  const { signals, store } = context.deps

  mount(app, context, operations.signalRun, async (request, reply) => {
    const { eventId, woke, isRepeat } = await signals.send(
      request.actor.namespace,
      pathId(request, 'run'),
      sentSignal(request, 'signal'),
    )
    return sendJson(reply, 202, JSON.stringify({ eventId, woke, ...(isRepeat && { deduped: true }) }))
  })

  mount(app, context, operations.updateRun, async (request, reply, { wait }) => {
    const { namespace } = request.actor
    const runId = pathId(request, 'run')
    const { eventId } = await signals.send(namespace, runId, sentSignal(request, 'update'))
    return sendAnswer(context, reply, { namespace, runId, updateId: eventId, ms: wait })
  })

  mount(app, context, operations.getRunUpdate, async (request, reply, { wait }) => {
    const { updateId } = request.params as { updateId: string }
    if (!isId(updateId)) throw notFound('update')
    const { namespace } = request.actor
    return sendAnswer(context, reply, { namespace, runId: pathId(request, 'run'), updateId, ms: wait })
  })

  mount(app, context, operations.listRunSignals, async (request, reply) => {
    const reads = store.in(request.actor.namespace)
    const runId = pathId(request, 'run')
    if (!(await reads.run(runId))) throw notFound('run')
    const found = await reads.waitingSignals(runId, LISTED_MAX + 1)
    const more = found.length > LISTED_MAX && { more: true }
    return sendJson(reply, 200, JSON.stringify({ signals: found.slice(0, LISTED_MAX).map(waitingSignal), ...more }))
  })
}

function sentSignal(request: FastifyRequest, kind: SentSignal['kind']): SentSignal {
  const { '*': name } = request.params as { '*': string }
  if (!isSignalName(name)) throw invalid('name', SIGNAL_NAME_FAULT)
  const body = bodyOf(request)
  const { dedupeId } = checkSignal(body === undefined ? {} : body.value)
  checkName('dedupeId', dedupeId)
  const data = body && objectMember(body.text, 'data')
  return { kind, name, data, dedupeId, trace: readTraceparent(request.headers.traceparent) }
}

async function sendAnswer(
  context: HttpContext,
  reply: FastifyReply,
  { namespace, runId, updateId, ms }: { namespace: string; runId: string; updateId: string; ms: number },
): Promise<FastifyReply> {
  const { signals } = context.deps
  const answer = await whileOpen(context, reply, signal => signals.answer(namespace, runId, { updateId, ms, signal }))
  if (!answer) return sendJson(reply, 202, JSON.stringify({ updateId }))
  if ('rejected' in answer) throw new EngineError('rejected', answer.rejected, { details: { updateId } })
  return sendJson(reply, 200, splice({ updateId }, { reply: answer.reply }))
}

function waitingSignal({ id: eventId, name, source: kind, receivedAt }: Event) {
  return { eventId, name: signalOf(name), kind, receivedAt: timestamp(receivedAt) }
}
