// Reads one run, its log lines, and the explanation of its wait. Lists, steps and streams have files of their own.

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { list } from '../../../domain/text/json-splice.ts'
import type { Reads } from '../../../ports/store-reads.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { notFound, pathId } from '../../request/query.ts'
import { sendJson } from '../../response/reply.ts'
import { logLineText, runText } from './present.ts'

export function runRoutes(app: FastifyInstance, context: HttpContext): void {
  const { store, explain } = context.deps

  mount(app, context, operations.getRun, async (request, reply) => {
    const run = await store.in(request.actor.namespace).run(pathId(request, 'run'))
    if (!run) throw notFound('run')
    return sendJson(reply, 200, runText(run))
  })

  mount(app, context, operations.explainRun, async (request, reply) => {
    const explanation = await explain.explain(request.actor.namespace, pathId(request, 'run'))
    if (!explanation) throw notFound('run')
    return sendJson(reply, 200, JSON.stringify(explanation))
  })

  mount(app, context, operations.listRunLogs, async (request, reply, query) => {
    const runId = pathId(request, 'run')
    const lines = await store.in(request.actor.namespace).logs(runId, query)
    if (lines.length === 0) await requireRun(store.in(request.actor.namespace), runId)
    return sendJson(reply, 200, list(lines.map(logLineText)))
  })
}

/** Called only when no row was found: a row proves its run. */
export async function requireRun(reads: Pick<Reads, 'status'>, runId: string): Promise<void> {
  if (!(await reads.status(runId))) throw notFound('run')
}
