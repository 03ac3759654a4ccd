// Resolves the ids of runs that requests name, in the path, the query or the body: a run whose id a caller gave is stored under
// another id (docs/decisions/0015-given-run-ids.md). mount.ts calls it for paths and queries, routes for bodies and topics.

import type { Operation, QueryParams } from '@perdure/protocol/operations'
import type { FastifyRequest } from 'fastify'
import { isId, notFound } from '../request/query.ts'
import type { HttpContext } from './context.ts'

const RUN_PATH = '/runs/{id}'

/** Whether requests of the operation name runs in their path or query. */
export function namesRuns({ path, query = {} }: Operation): boolean {
  return path.startsWith(RUN_PATH) || paramsOf(query).length > 0
}

/** Replaces the ids in the path and the query by the ids under which the runs are stored; one read, if there are any. */
export async function resolveRunIds(
  { deps }: HttpContext,
  request: FastifyRequest,
  { operation, values }: { operation: Operation; values: object },
): Promise<void> {
  const params = request.params as { id: string }
  const isRunPath = operation.path.startsWith(RUN_PATH)
  if (isRunPath && !isId(params.id)) throw notFound('run')
  const given = values as Record<string, string | readonly string[] | undefined>
  const names = paramsOf(operation.query ?? {}).filter(name => given[name] !== undefined)
  const ids = [...(isRunPath ? [params.id] : []), ...names.flatMap(name => given[name] as string | string[])]
  if (ids.length === 0) return
  const found = await deps.store.in(request.actor.namespace).storedIds(ids)
  const stored = new Map(ids.map((id, n) => [id, found[n] as string]))
  const storedId = (id: string) => stored.get(id) as string
  if (isRunPath) params.id = storedId(params.id)
  for (const name of names) {
    const value = given[name] as string | readonly string[]
    given[name] = typeof value === 'string' ? storedId(value) : [...new Set(value.map(storedId))]
  }
}

function paramsOf(query: QueryParams): string[] {
  return Object.entries(query).flatMap(([name, param]) => ('ofRun' in param && param.ofRun ? [name] : []))
}
