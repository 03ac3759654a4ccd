// Controls runs: cancel, pause, resume, replay, retry-from-step, settle and bulk replay (docs/http-api/run-control.md#run-control); and lists
// the audit log.

import type { BulkReplayRequest } from '@perdure/protocol'
import { type Operation, operations } from '@perdure/protocol/operations'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { StepEnd } from '../../../domain/arrival/callback/settle-step.ts'
import { EngineError, invalid } from '../../../domain/model/errors.ts'
import type { RunFilter } from '../../../domain/model/run.ts'
import { stepErrorOf } from '../../../domain/pass/opcodes/step-error.ts'
import { shownRunId } from '../../../domain/text/ids.ts'
import { list } from '../../../domain/text/json-splice.ts'
import { type JsonText, objectMembers } from '../../../domain/text/json-text.ts'
import { isBlank } from '../../../domain/text/name.ts'
import { readTraceparent } from '../../../domain/text/traceparent.ts'
import { runSummary } from '../../../domain/view/run-summary.ts'
import type { RunView } from '../../../ports/store-reads.ts'
import type { Actor } from '../../../services/commit/audit.ts'
import type { HttpContext } from '../../access/context.ts'
import { type Handler, mount } from '../../access/mount.ts'
import { scan } from '../../access/scan.ts'
import { type Body, bodyOf } from '../../request/body.ts'
import { decodeCursor, encodeCursor, readId } from '../../request/cursor.ts'
import { pathId, pathStepId } from '../../request/query.ts'
import { timestamp } from '../../request/timestamp.ts'
import { checkName, validator } from '../../request/validate.ts'
import { sendJson } from '../../response/reply.ts'
import { controlActionText } from './present.ts'
import { stepText } from './present-step.ts'

const checkCancel = validator(operations.cancelRun.body.schema)
const checkSettle = validator(operations.settleStep.body.schema)
const checkBudget = validator(operations.setRunBudget.body.schema)
const checkBulkReplay = validator(operations.bulkReplayRuns.body.schema)
/** The filters of a bulk replay; a filter that this route does not read fails to compile. */
type ReplayFilters = { [Name in Extract<keyof BulkReplayRequest, string>]: RunFilter[Name] }

export function controlRoutes(app: FastifyInstance, context: HttpContext): void {
  const { control, settlements, budgets, erasure, store } = context.deps
  /** Forks start runs: a suspended namespace refuses them before the body is read (docs/security.md#suspended-namespaces). */
  const mountFork = <const Op extends Operation>(operation: Op, handler: Handler<Op>): void =>
    mount(app, context, operation, handler, {
      refuseEarly: ({ actor }) => control.assertActive(actor.namespace),
    })

  mount(app, context, operations.cancelRun, async (request, reply) => {
    const { cleanup } = checkCancel(bodyOf(request)?.value ?? {})
    return sendRun(
      reply,
      await control.cancel(request.actor, pathId(request, 'run'), { skipsCleanup: cleanup === false }),
    )
  })

  mount(app, context, operations.pauseRun, async (request, reply) =>
    sendRun(reply, await control.pause(request.actor, pathId(request, 'run'))),
  )

  mount(app, context, operations.resumeRun, async (request, reply) =>
    sendRun(reply, await control.resume(request.actor, pathId(request, 'run'))),
  )

  mountFork(operations.replayRun, async (request, reply) => {
    const input = overridingInput(bodyOf(request))
    return sendRun(reply, await control.replay(actorWithTrace(request), pathId(request, 'run'), input))
  })

  mountFork(operations.retryRunFromStep, async (request, reply) => {
    const step = requiredStep(bodyOf(request))
    return sendRun(reply, await control.retryFromStep(actorWithTrace(request), pathId(request, 'run'), step))
  })

  mount(app, context, operations.settleStep, async (request, reply) => {
    const wanted = wantedEnd(bodyOf(request))
    const at = { runId: pathId(request, 'run'), step: pathStepId(request) }
    return sendJson(reply, 200, stepText(await settlements.settle(request.actor, { ...at, ...wanted })))
  })

  mount(app, context, operations.setRunBudget, async (request, reply) => {
    const limits = checkBudget(bodyOf(request)?.value)
    if (Object.keys(limits).length === 0) throw invalid('body', 'must set at least one limit')
    const { budgetId, budget, resumed } = await budgets.set(request.actor, pathId(request, 'run'), limits)
    return sendJson(reply, 200, JSON.stringify({ runId: shownRunId(budgetId), budget, resumed }))
  })

  mount(app, context, operations.eraseRun, async (request, reply) => {
    await erasure.erase(request.actor, pathId(request, 'run'))
    return reply.code(204).send()
  })

  mountFork(operations.bulkReplayRuns, async (request, reply) => {
    const filter = replayFilter(bodyOf(request))
    const actor = actorWithTrace(request)
    const { bulkScanMs: timeoutMs } = context.limits
    const replayed = scan(context, reply, signal => control.bulkReplay(actor, filter, signal), { timeoutMs })
    return sendJson(reply, 200, JSON.stringify(await replayed))
  })

  mount(app, context, operations.listControlActions, async (request, reply, { cursor, ...query }) => {
    const { namespace } = request.actor
    const { limit, ...filter } = query
    const scope = { kind: 'actions', namespace, filter } as const
    const before = decodeCursor(cursor, scope, readId)
    const entries = await store.in(namespace).controlActions({ ...query, before, limit: limit + 1 })
    const more = entries.length > limit
    if (more) entries.pop()
    const last = entries.at(-1)
    if (more && last) reply.header('x-next-cursor', encodeCursor(scope, [last.id]))
    return sendJson(reply, 200, list(entries.map(controlActionText)))
  })
}

/** The actor with the trace of the request, which the forks continue. */
function actorWithTrace(request: FastifyRequest): Actor {
  const trace = readTraceparent(request.headers.traceparent)
  return trace === undefined ? request.actor : { ...request.actor, trace }
}

function sendRun(reply: FastifyReply, run: RunView): FastifyReply {
  return sendJson(reply, 200, JSON.stringify(runSummary(run)))
}

/** The exact text of `input`. Only an absent one copies the source's; `{"input": null}` overrides it. */
function overridingInput(body: Body | undefined): JsonText | undefined {
  return body === undefined ? undefined : members(body).get('input')
}

function requiredStep(body: Body | undefined): string {
  const text = body && members(body).get('step')
  const step: unknown = text === undefined ? undefined : JSON.parse(text)
  if (step === undefined) throw invalid('step', 'is required')
  if (typeof step !== 'string') throw invalid('step', 'must be string')
  if (step.trim() === '') throw invalid('step', 'must not be blank')
  return step
}

/** The end that a step gets, and why. */
function wantedEnd(body: Body | undefined): { end: StepEnd; reason: string } {
  const { error, reason } = checkSettle(body?.value)
  if (isBlank(reason)) throw invalid('reason', 'must not be blank')
  const data = body && members(body).get('data')
  if ((data === undefined) === (error === undefined)) throw invalid('body', 'must have either data or error')
  if (error) return { end: { status: 'failed', error: stepErrorOf(error) }, reason }
  return { end: { status: 'succeeded', data: data as JsonText }, reason }
}

/** Requires a filter, so that an empty body does not replay every run. */
function replayFilter(body: Body | undefined): RunFilter {
  const { app, workflow, status, runType, since } = checkBulkReplay(body === undefined ? {} : body.value)
  checkName('app', app)
  checkName('workflow', workflow)
  const from = since === undefined ? undefined : timestamp('since', since)
  const filter: ReplayFilters = { app, workflow, status: status && [status], runType, since: from }
  if (Object.values(filter).every(value => value === undefined)) {
    throw new EngineError('invalid_request', 'one of app, workflow, status, runType and since is required', {
      details: { field: 'body' },
    })
  }
  return filter
}

function members(body: Body): Map<string, JsonText> {
  if (typeof body.value !== 'object' || body.value === null || Array.isArray(body.value)) {
    throw new EngineError('invalid_request', 'body must be object', { details: { field: 'body' } })
  }
  return objectMembers(body.text)
}
