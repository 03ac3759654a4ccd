// Reads one run, its steps, its log lines, and the explanation of its wait. Lists and streams have files of their own.

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { list } from '../../../domain/text/json-splice.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { scan } from '../../access/scan.ts'
import { notFound, pathId } from '../../request/query.ts'
import { sendJson } from '../../response/reply.ts'
import { logLineText, runText, stepText } from './present.ts'

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

  mount(app, context, operations.listRunSteps, async (request, reply) => {
    const runId = pathId(request, 'run')
    const steps = await scan(context, reply, signal => store.in(request.actor.namespace).steps(runId, signal))
    if (steps.length === 0) await requireRun(request.actor.namespace, runId)
    return sendJson(reply, 200, list(steps.map(stepText)))
  })

  mount(app, context, operations.listRunLogs, async (request, reply, query) => {
    const runId = pathId(request, 'run')
    const lines = await store.in(request.actor.namespace).logs(runId, query)
    if (lines.length === 0) await requireRun(request.actor.namespace, runId)
    return sendJson(reply, 200, list(lines.map(logLineText)))
  })

  /** Called only when no row was found: a row proves its run, and reading a run reads its payloads. */
  async function requireRun(namespace: string, runId: string): Promise<void> {
    if (!(await store.in(namespace).run(runId))) throw notFound('run')
  }
}
