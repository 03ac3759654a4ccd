// Resolves the ids of runs that requests name, in the path, the query or the body: a run whose id a caller gave is stored under
// another (docs/decisions/0015-given-run-ids.md). mount.ts calls it for paths and queries, routes for bodies and topics.

import type { Operation, QueryParams } from '@perdure/protocol/operations'
import type { FastifyRequest } from 'fastify'
import { isId, notFound } from '../request/query.ts'
import type { HttpContext } from './context.ts'

const RUN_PATH = '/runs/{id}'

/** Whether requests of the operation name runs in their path or their query. */
export function namesRuns({ path, query = {} }: Operation): boolean {
  return path.startsWith(RUN_PATH) || paramsOf(query).length > 0
}

/** Replaces the ids in the path and the query by those under which the runs are stored. */
export async function resolveRunIds(
  { deps }: HttpContext,
  request: FastifyRequest,
  { operation, values }: { operation: Operation; values: object },
): Promise<void> {
  const reads = deps.store.in(request.actor.namespace)
  if (operation.path.startsWith(RUN_PATH)) {
    const params = request.params as { id: string }
    if (!isId(params.id)) throw notFound('run')
    params.id = (await reads.storedIds([params.id]))[0] as string
  }
  const given = values as Record<string, string | undefined>
  for (const name of paramsOf(operation.query ?? {})) {
    const id = given[name]
    if (id !== undefined) given[name] = (await reads.storedIds([id]))[0] as string
  }
}

function paramsOf(query: QueryParams): string[] {
  return Object.entries(query).flatMap(([name, param]) => (param.kind === 'name' && param.ofRun ? [name] : []))
}
