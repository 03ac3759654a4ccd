// Lists runs and counts them (docs/http-api.md#get-runs, docs/http-api.md#runstats).

import { operations, type QueryValues } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { type EngineError, invalid } from '../../../domain/model/errors.ts'
import { positionOf, type RunPosition, type RunSort } from '../../../domain/view/run-order.ts'
import { runStats } from '../../../domain/view/run-stats.ts'
import { runSummary } from '../../../domain/view/run-summary.ts'
import type { RunFilter, RunQuery } from '../../../ports/store-reads.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { scan } from '../../access/scan.ts'
import { type CursorScope, decodeCursor, encodeCursor } from '../../request/cursor.ts'
import { sendJson } from '../../response/reply.ts'

type ListQuery = QueryValues<typeof operations.listRuns.query>
/** The filters of the list: a parameter of the operation that the store or `filterOf` lacks does not compile. */
type Filters = {
  [Name in Exclude<keyof ListQuery, 'sort' | 'dir' | 'limit' | 'cursor'>]: RunFilter[Name]
}

export function runListRoutes(app: FastifyInstance, context: HttpContext): void {
  const { store } = context.deps

  mount(app, context, operations.listRuns, async (request, reply, query) => {
    const { namespace } = request.actor
    const { sort, dir, limit, cursor } = query
    const filter = filterOf(query)
    const scope = scopeOf(namespace, query, filter)
    const after = decodeCursor(cursor, scope, readPosition(sort))
    // One row more than the limit shows whether there is a next page.
    const list: RunQuery = { ...filter, sort, dir, after, limit: limit + 1 }
    const found = await scan(context, reply, signal => store.in(namespace).runs(list, signal), {
      tooWide: () => tooWide(list),
    })
    const page = found.slice(0, limit)
    const last = page.at(-1)
    if (found.length > limit && last) {
      const { key, id } = positionOf(last, sort)
      reply.header('x-next-cursor', encodeCursor(scope, key === undefined ? [id] : [id, key]))
    }
    return sendJson(reply, 200, JSON.stringify(page.map(runSummary)))
  })

  mount(app, context, operations.getRunStats, async (request, reply, { app, since }) => {
    const reads = store.in(request.actor.namespace)
    const counts = await scan(context, reply, signal => reads.stats({ app, since }, signal), {
      tooWide: () => invalid('since', 'leaves too many runs to count: give a later time'),
    })
    return sendJson(reply, 200, JSON.stringify(runStats(counts)))
  })
}

/** An empty `q` matches everything, and `deep` has no effect without `q`. */
function filterOf({ app, status, runType, eventId, replayOf, since, q, deep }: ListQuery): Filters {
  const filter = { app, status, runType, eventId, replayOf, since }
  return q ? { ...filter, q, deep } : { ...filter, q: undefined, deep: undefined }
}

function scopeOf(namespace: string, { sort, dir }: ListQuery, filter: RunFilter): CursorScope {
  const parts = Object.entries({ ...filter, sort, dir }).filter(([, value]) => value !== undefined)
  return {
    kind: 'runs',
    namespace,
    filter: Object.fromEntries(parts.map(([name, value]) => [name, String(value)])),
  }
}

function readPosition(sort: RunSort): (position: unknown[]) => RunPosition | undefined {
  return ([id, key, ...rest]) => {
    if (typeof id !== 'string' || rest.length > 0) return undefined
    if (sort === 'started') return key === undefined ? { id } : undefined
    // A duration is negative when the clock was set back.
    const isKey = sort === 'duration' ? Number.isSafeInteger(key) : typeof key === 'string'
    return isKey ? { key: key as string | number, id } : undefined
  }
}

/** A filter that matches few runs may have to look at all of them. */
function tooWide({ q, deep }: RunQuery): EngineError {
  const field = q === undefined ? 'sort' : deep ? 'deep' : 'q'
  return invalid(field, 'has to look at too many runs: narrow the list with since, status or app')
}
