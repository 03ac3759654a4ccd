// Lists runs and counts them (docs/http-api/runs.md#get-runs, docs/http-api/runs.md#runstats).

import type { ListedRun, RunFilterName } from '@perdure/protocol'
import { operations, type QueryValues } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { type EngineError, invalid } from '../../../domain/model/errors.ts'
import type { RunFilter } from '../../../domain/model/run.ts'
import { timeOfId } from '../../../domain/text/ids.ts'
import { timestamp as timestampText } from '../../../domain/text/timestamp.ts'
import { positionOf, type RunPosition, type RunSort } from '../../../domain/view/run-order.ts'
import { runStats } from '../../../domain/view/run-stats.ts'
import { type EveryField, runSummary } from '../../../domain/view/run-summary.ts'
import type { HeldBefore } from '../../../ports/queue-reads.ts'
import type { PartOfRuns, Reads, RunQuery, RunView } from '../../../ports/store-reads.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { scan } from '../../access/scan.ts'
import { decodeCursor, encodeCursor } from '../../request/cursor.ts'
import { countText } from '../../response/count-text.ts'
import { sendJson } from '../../response/reply.ts'
import { withRunningSteps } from './runs.ts'
import { namesOfPattern } from './workflow-names.ts'

type ListQuery = QueryValues<typeof operations.listRuns.query>
/** The filters of the list; a parameter of the operation that the store or `filterOf` lacks fails to compile. */
type Filters = { [Name in RunFilterName]: RunFilter[Name] }

type Places = ReadonlyMap<string, HeldBefore>

export function runListRoutes(app: FastifyInstance, context: HttpContext): void {
  const { store, runningSteps } = context.deps

  mount(app, context, operations.listRuns, async (request, reply, query) => {
    const { namespace } = request.actor
    const { sort, dir, limit, cursor, partial, position: withPosition } = query
    const given = filterOf(query)
    const scope = { kind: 'runs', namespace, filter: { ...given, sort, dir } } as const
    const after = decodeCursor(cursor, scope, readPosition(sort))
    const filter = await named(store.in(namespace), given)
    // One row more than the limit shows whether there is a next page.
    const list: RunQuery = { ...filter, sort, dir, after, limit: limit + 1 }
    const reads = store.in(namespace)
    const listed = async (signal: AbortSignal): Promise<PartOfRuns & { places?: Places }> => {
      const part = partial
        ? await upTo(context, enough => reads.partOfRuns(list, { signal, enough }))
        : { runs: await reads.runs(list, signal) }
      if (!withPosition) return part
      const held = part.runs.slice(0, limit).filter(({ status }) => status === 'queued')
      return { ...part, places: await reads.heldBeforeEach(held, signal) }
    }
    // A list in parts that takes this long is waiting for a single read: narrowing it would not help.
    const found = await scan(context, reply, listed, partial ? {} : { tooWide: () => tooWide(list) })
    const page = found.runs.slice(0, limit)
    const last = page.at(-1)
    const isMore = found.runs.length > limit && last !== undefined
    const position = isMore ? positionOf(last, sort) : found.lookedTo
    if (position) reply.header('x-next-cursor', encodeCursor(scope, cursorOf(position, sort)))
    if (!isMore && found.lookedTo && sort === 'started') {
      reply.header('x-scanned-to', timestampText(timeOfId(found.lookedTo.id)))
    }
    const shown = await withRunningSteps(runningSteps, page)
    return sendJson(reply, 200, JSON.stringify(shown.map(run => listedRun(run, found.places))))
  })

  mount(app, context, operations.getRunStats, async (request, reply, query) => {
    const reads = store.in(request.actor.namespace)
    const counts = await scan(context, reply, signal => reads.stats(query, signal), {
      tooWide: () => invalid('since', 'leaves too many runs to count: give a later time'),
    })
    return sendJson(reply, 200, JSON.stringify(runStats(counts)))
  })
}

function listedRun(run: RunView, places: Places | undefined): EveryField<ListedRun> {
  const place = places?.get(run.id)
  return { ...runSummary(run), position: place && countText(place) }
}

/** The filter with the names that match its pattern of workflows. */
async function named(reads: Reads, { workflow, ...filter }: Filters): Promise<RunFilter> {
  const workflows = await namesOfPattern(reads, { workflow, field: 'workflow' })
  return workflows ? { ...filter, workflows } : { ...filter, workflow }
}

/** An empty `q` matches everything, and `deep` has no effect without `q`. */
function filterOf(query: ListQuery): Filters {
  const { sort, dir, limit, cursor, partial, position, q, deep, root, ...others } = query
  const filter = { ...others, root: root || undefined }
  return q ? { ...filter, q, deep } : { ...filter, q: undefined, deep: undefined }
}

/** Carries out a list that returns a part when its time is over. */
async function upTo<T>({ deps, limits }: HttpContext, list: (enough: AbortSignal) => Promise<T>): Promise<T> {
  const enough = new AbortController()
  const cancelTimer = deps.clock.after(limits.partialScanMs, () => enough.abort())
  try {
    return await list(enough.signal)
  } finally {
    cancelTimer()
  }
}

/** If the store returns no key, the key is the same on all pages, and not needed. */
function cursorOf({ id, key }: RunPosition, sort: RunSort): (string | number)[] {
  return sort === 'started' ? [id] : [id, key ?? (sort === 'duration' ? 0 : '')]
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
  return invalid(
    field,
    'has to read too many runs: narrow the list with since, until, status, workflow or app, or send partial=1',
  )
}
