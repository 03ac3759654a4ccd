// Lists the steps of a run, whole or in pages, and reads one step with its attempts (docs/http-api.md#get-runsidsteps).

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { list } from '../../../domain/text/json-splice.ts'
import { attemptsOf } from '../../../domain/view/step-attempts.ts'
import type { StepQuery } from '../../../ports/store-reads.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { scan } from '../../access/scan.ts'
import { decodeCursor, encodeCursor, isPosition } from '../../request/cursor.ts'
import { notFound, pathId, pathStepId } from '../../request/query.ts'
import { sendJson } from '../../response/reply.ts'
import { stepDetailText, stepSummaryText, stepText } from './present-step.ts'
import { requireRun } from './runs.ts'

const STEPS_PAGE_DEFAULT = 100
/** Steps with their results in one page; the operation's bound is that of summaries. */
const STEPS_PAGE_MAX = 200

export function runStepRoutes(app: FastifyInstance, context: HttpContext): void {
  const { store } = context.deps

  mount(app, context, operations.listRunSteps, async (request, reply, query) => {
    const { namespace } = request.actor
    const runId = pathId(request, 'run')
    const { status, q, fields, cursor } = query
    const withoutData = fields === 'summary'
    const asked = query.limit ?? (cursor === undefined ? undefined : STEPS_PAGE_DEFAULT)
    const limit = asked === undefined || withoutData ? asked : Math.min(asked, STEPS_PAGE_MAX)
    const filter = { run: runId, status: status?.join(','), q: q || undefined, fields }
    const scope = { kind: 'steps', namespace, filter } as const
    const after = decodeCursor(cursor, scope, readPosition)
    // One step more than the limit shows whether there is a next page.
    const wanted: StepQuery = { status, q, after, withoutData, limit: limit === undefined ? undefined : limit + 1 }
    const reads = store.in(namespace)
    const found = await scan(context, reply, signal => reads.steps(runId, wanted, signal))
    if (found.length === 0) await requireRun(reads, runId)
    const page = found.slice(0, limit)
    const last = page.at(-1)
    if (last && found.length > page.length) reply.header('x-next-cursor', encodeCursor(scope, [last.index]))
    return sendJson(reply, 200, list(page.map(withoutData ? stepSummaryText : stepText)))
  })

  mount(app, context, operations.getRunStep, async (request, reply) => {
    const runId = pathId(request, 'run')
    const stepId = pathStepId(request)
    const reads = store.in(request.actor.namespace)
    const found = await reads.step(runId, stepId)
    if (!found) {
      await requireRun(reads, runId)
      throw notFound('step')
    }
    return sendJson(reply, 200, stepDetailText(found.step, attemptsOf(found.step, found.frames)))
  })
}

function readPosition([index, ...rest]: unknown[]): number | undefined {
  return isPosition(index) && rest.length === 0 ? index : undefined
}
