// Reads one run, its log lines, and why it is in its state. Lists, steps and streams have their own files.

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { list } from '../../../domain/text/json-splice.ts'
import { publicRun } from '../../../domain/view/public-view.ts'
import type { Reads, RunView } from '../../../ports/store-reads.ts'
import type { RunningSteps } from '../../../services/run/running-steps.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { notFound, pathId } from '../../request/query.ts'
import { sendJson } from '../../response/reply.ts'
import { logLineText, runText } from './present.ts'

export function runRoutes(app: FastifyInstance, context: HttpContext): void {
  const { store, runWhy, runningSteps, budgets } = context.deps

  mount(app, context, operations.getRun, async (request, reply) => {
    const run = await store.in(request.actor.namespace).run(pathId(request, 'run'))
    if (!run) throw notFound('run')
    const [shown] = await withRunningSteps(runningSteps, [run])
    const read = shown ?? run
    return sendJson(reply, 200, runText(request.actor.runToken ? publicRun(read) : read, await budgets.of(run)))
  })

  mount(app, context, operations.explainRun, async (request, reply) => {
    const why = await runWhy.of(request.actor.namespace, pathId(request, 'run'))
    if (!why) throw notFound('run')
    return sendJson(reply, 200, JSON.stringify(why))
  })

  mount(app, context, operations.listRunLogs, async (request, reply, query) => {
    const runId = pathId(request, 'run')
    const lines = await store.in(request.actor.namespace).logs(runId, query)
    if (lines.length === 0) await requireRun(store.in(request.actor.namespace), runId)
    return sendJson(reply, 200, list(lines.map(logLineText)))
  })
}

/** Called only when no row was found: a row proves that its run exists. */
export async function requireRun(reads: Pick<Reads, 'status'>, runId: string): Promise<void> {
  if (!(await reads.status(runId))) throw notFound('run')
}

/** Returns the runs, each with the step that it is at: the newest one that its runner reported as running, if any. */
export async function withRunningSteps(
  runningSteps: Pick<RunningSteps, 'of'>,
  runs: readonly RunView[],
): Promise<readonly RunView[]> {
  if (!runs.some(({ status }) => status === 'running')) return runs
  const running = await runningSteps.of(runs)
  if (running.size === 0) return runs
  return runs.map(run => {
    const name = running.get(run.id)?.at(-1)?.name
    return name === undefined ? run : { ...run, currentStepName: name }
  })
}
