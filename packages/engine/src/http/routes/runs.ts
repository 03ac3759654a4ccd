// Reading runs: the list, one run, its steps and its log lines (contract §4.1). The stream has its own file.

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { invalid } from '../../domain/errors.ts'
import type { HttpContext } from '../context.ts'
import { decodeCursor, encodeCursor, isPosition } from '../cursor.ts'
import { mount } from '../mount.ts'
import { runSummary, runText } from '../present/run.ts'
import { list } from '../present/splice.ts'
import { logLineText, stepText } from '../present/step.ts'
import { notFound, pathId } from '../query.ts'
import { sendJson } from '../reply.ts'

const UNSUPPORTED = ['runType', 'eventId', 'replayOf', 'q', 'since'] as const

export function runRoutes(app: FastifyInstance, context: HttpContext): void {
  const { store } = context.deps

  mount(app, context, operations.listRuns, async (request, reply, query) => {
    for (const name of UNSUPPORTED) if (query[name] !== undefined) throw invalid(name, 'is not supported yet')
    const { limit, cursor } = query
    const filter = { app: query.app, status: query.status }
    const { namespace } = request.actor
    const scope = { kind: 'runs', namespace, filter } as const
    const after = cursor === undefined ? undefined : decodeCursor(cursor, scope, readPosition)
    // One more than asked for tells whether there is a next page.
    const found = await store.in(namespace).runs({ ...filter, after, limit: limit + 1 })
    const page = found.slice(0, limit)
    const last = page.at(-1)
    if (found.length > limit && last) {
      reply.header('x-next-cursor', encodeCursor(scope, [last.createdAt, last.id]))
    }
    return sendJson(reply, 200, JSON.stringify(page.map(runSummary)))
  })

  mount(app, context, operations.getRun, async (request, reply) => {
    const run = await store.in(request.actor.namespace).run(pathId(request, 'run'))
    if (!run) throw notFound('run')
    return sendJson(reply, 200, runText(run))
  })

  mount(app, context, operations.listRunSteps, async (request, reply) => {
    const runId = pathId(request, 'run')
    const steps = await store.in(request.actor.namespace).steps(runId)
    if (steps.length === 0) await requireRun(request.actor.namespace, runId)
    return sendJson(reply, 200, list(steps.map(stepText)))
  })

  mount(app, context, operations.listRunLogs, async (request, reply, query) => {
    const runId = pathId(request, 'run')
    const lines = await store.in(request.actor.namespace).logs(runId, query)
    if (lines.length === 0) await requireRun(request.actor.namespace, runId)
    return sendJson(reply, 200, list(lines.map(logLineText)))
  })

  /** Asked only when nothing was found: a row proves its run, and reading a run reads its payloads. */
  async function requireRun(namespace: string, runId: string): Promise<void> {
    if (!(await store.in(namespace).run(runId))) throw notFound('run')
  }
}

function readPosition([createdAt, id, ...rest]: unknown[]): { createdAt: number; id: string } | undefined {
  if (!isPosition(createdAt) || typeof id !== 'string' || rest.length > 0) return undefined
  return { createdAt, id }
}
