// Reading runs: the list, one run, its steps and its log lines (contract §4.1). The stream has its own file.

import { EVENT_BOUNDS } from '@perdure/protocol/schema'
import type { FastifyInstance } from 'fastify'
import type { RunStatus } from '../../domain/run.ts'
import { admit } from '../admit.ts'
import { READERS } from '../auth.ts'
import type { HttpContext } from '../context.ts'
import { decodeCursor, encodeCursor, isPosition } from '../cursor.ts'
import { runSummary, runText } from '../present/run.ts'
import { list } from '../present/splice.ts'
import { logLineText, stepText } from '../present/step.ts'
import {
  enumParam,
  integerParam,
  nameParam,
  notFound,
  pathId,
  queryOf,
  refuseUnsupported,
  SEQ_RANGE,
} from '../query.ts'
import { sendJson } from '../reply.ts'

const STATUSES: readonly RunStatus[] = [
  'queued',
  'running',
  'waiting',
  'paused',
  'succeeded',
  'failed',
  'cancelled',
]

const UNSUPPORTED = ['runType', 'eventId', 'replayOf', 'q', 'deep', 'since', 'sort', 'dir']

export function runRoutes(app: FastifyInstance, context: HttpContext): void {
  const { store } = context.deps
  const onRequest = admit(context, READERS)

  app.get('/runs', { onRequest }, async (request, reply) => {
    const query = queryOf(request)
    refuseUnsupported(query, UNSUPPORTED)
    const filter = {
      app: nameParam(query, 'app', EVENT_BOUNDS.app),
      status: enumParam(query, 'status', STATUSES),
    }
    const limit = integerParam(query, 'limit', { min: 1, max: 200, fallback: 30 })
    const { namespace } = request.actor
    const scope = { kind: 'runs', namespace, filter } as const
    const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, scope, readPosition)
    // One more than asked for tells whether there is a next page.
    const found = await store.in(namespace).runs({ ...filter, after, limit: limit + 1 })
    const page = found.slice(0, limit)
    const last = page.at(-1)
    if (found.length > limit && last) {
      reply.header('x-next-cursor', encodeCursor(scope, [last.createdAt, last.id]))
    }
    return sendJson(reply, 200, JSON.stringify(page.map(runSummary)))
  })

  app.get('/runs/:id', { onRequest }, async (request, reply) => {
    const run = await store.in(request.actor.namespace).run(pathId(request, 'run'))
    if (!run) throw notFound('run')
    return sendJson(reply, 200, runText(run))
  })

  app.get('/runs/:id/steps', { onRequest }, async (request, reply) => {
    const runId = pathId(request, 'run')
    const steps = await store.in(request.actor.namespace).steps(runId)
    if (steps.length === 0) await requireRun(request.actor.namespace, runId)
    return sendJson(reply, 200, list(steps.map(stepText)))
  })

  app.get('/runs/:id/logs', { onRequest }, async (request, reply) => {
    const runId = pathId(request, 'run')
    const query = queryOf(request)
    const from = integerParam(query, 'from', { ...SEQ_RANGE, fallback: 0 })
    const limit = integerParam(query, 'limit', { min: 1, max: 1000, fallback: 100 })
    const lines = await store.in(request.actor.namespace).logs(runId, { from, limit })
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
