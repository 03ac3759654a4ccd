// Lists the steps of a run, whole or in pages, and reads one step with its attempts (docs/http-api/runs.md#get-runsidsteps).

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { isSettled, type Step } from '../../../domain/model/step.ts'
import { list } from '../../../domain/text/json-splice.ts'
import type { JsonText } from '../../../domain/text/json-text.ts'
import { asStep } from '../../../domain/view/running-step.ts'
import { type AttemptFrame, attemptsOf } from '../../../domain/view/step-attempts.ts'
import type { StepQuery } from '../../../ports/store-reads.ts'
import { runningOf, withRunning } from '../../../services/run/steps-with-running.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { scan } from '../../access/scan.ts'
import { decodeCursor, encodeCursor, readNumber } from '../../request/cursor.ts'
import { pathId, pathStepId, stepNotFound } from '../../request/query.ts'
import { sendJson } from '../../response/reply.ts'
import { stepDetailText, stepSummaryText, stepText } from './present-step.ts'
import { requireRun } from './runs.ts'

const STEPS_PAGE_DEFAULT = 100
/** Steps with their results in one page; the operation's bound is that of summaries. */
const STEPS_PAGE_MAX = 200

export function runStepRoutes(app: FastifyInstance, context: HttpContext): void {
  const { store, runningSteps } = context.deps

  mount(app, context, operations.listRunSteps, async (request, reply, query) => {
    const { namespace } = request.actor
    const runId = pathId(request, 'run')
    const { status, q, fields, cursor } = query
    const withoutData = fields === 'summary'
    const asked = query.limit ?? (cursor === undefined ? undefined : STEPS_PAGE_DEFAULT)
    const limit = asked === undefined || withoutData ? asked : Math.min(asked, STEPS_PAGE_MAX)
    const filter = { run: runId, status, q: q || undefined, fields }
    const scope = { kind: 'steps', namespace, filter } as const
    const after = decodeCursor(cursor, scope, readNumber)
    // One step more than the limit shows whether there is a next page.
    const wanted: StepQuery = { status, q, after, withoutData, limit: limit === undefined ? undefined : limit + 1 }
    const reads = store.in(namespace)
    const found = await scan(context, reply, signal => reads.steps(runId, wanted, signal))
    if (found.length === 0) await requireRun(reads, runId)
    const steps = found.slice(0, limit)
    const isMore = found.length > steps.length
    const running = await runningOf(runningSteps, reads, runId)
    const shown = await withRunning(reads, { runId, steps, isMore, query: wanted, running })
    const page = shown.slice(0, limit)
    const last = page.at(-1)
    if (last && (isMore || shown.length > page.length)) {
      reply.header('x-next-cursor', encodeCursor(scope, [last.index]))
    }
    return sendJson(reply, 200, list(page.map(withoutData ? stepSummaryText : stepText)))
  })

  mount(app, context, operations.getRunStep, async (request, reply) => {
    const runId = pathId(request, 'run')
    const stepId = pathStepId(request)
    const reads = store.in(request.actor.namespace)
    const found = await reads.step(runId, stepId)
    if (!found) await requireRun(reads, runId)
    if (found && isSettled(found.step.status)) return sendJson(reply, 200, detail(found))
    const now = (await runningOf(runningSteps, reads, runId)).find(({ id }) => id === stepId)
    if (now)
      return sendJson(reply, 200, detail({ frames: [], ...found, step: asStep(now, { runId, stored: found?.step }) }))
    if (!found) throw stepNotFound(stepId)
    return sendJson(reply, 200, detail(found))
  })
}

function detail({ step, frames }: { step: Step; frames: AttemptFrame[] }): JsonText {
  return stepDetailText(step, attemptsOf(step, frames))
}
