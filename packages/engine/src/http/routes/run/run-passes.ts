// Lists the passes of a run (docs/http-api/runs.md#get-runsidpasses).

import type { PassRecord } from '@perdure/protocol'
import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { optionalTimestamp, timestamp } from '../../../domain/text/timestamp.ts'
import type { PassView } from '../../../domain/view/passes.ts'
import type { EveryField } from '../../../domain/view/run-summary.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { decodeCursor, encodeCursor, readNumber } from '../../request/cursor.ts'
import { notFound, pathId } from '../../request/query.ts'
import { sendJson } from '../../response/reply.ts'
import { shortError } from './present-step.ts'

export function runPassRoutes(app: FastifyInstance, context: HttpContext): void {
  const { passes } = context.deps

  mount(app, context, operations.listRunPasses, async (request, reply, { limit, cursor }) => {
    const { namespace } = request.actor
    const runId = pathId(request, 'run')
    const scope = { kind: 'passes', namespace, filter: { run: runId } } as const
    const after = decodeCursor(cursor, scope, readNumber) ?? 0
    const found = await passes.list({ namespace, runId }, { after, limit })
    if (!found) throw notFound('run')
    const last = found.passes.at(-1)
    if (found.more && last) reply.header('x-next-cursor', encodeCursor(scope, [last.pass]))
    return sendJson(reply, 200, JSON.stringify(found.passes.map(passRecord)))
  })
}

export function passRecord(view: PassView): EveryField<PassRecord> {
  const { pass, runner, passSentAt, answeredAt, outcome, attempt, steps, error } = view
  return {
    pass,
    runner,
    sentAt: timestamp(passSentAt),
    answeredAt: optionalTimestamp(answeredAt),
    outcome,
    attempt,
    steps,
    error: error && shortError(error),
  }
}
