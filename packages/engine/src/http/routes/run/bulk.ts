// Bulk actions: `POST /bulk` and the jobs that it starts (docs/http-api/many-runs-at-once.md#post-bulk).

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { type BulkResult, forks, matchedOf } from '../../../domain/model/bulk.ts'
import { type EngineError, invalid } from '../../../domain/model/errors.ts'
import type { FlowRow } from '../../../domain/model/flow-row.ts'
import type { RunFilter } from '../../../domain/model/run.ts'
import { shownRunId } from '../../../domain/text/ids.ts'
import { objectMember } from '../../../domain/text/json-text.ts'
import { optionalTimestamp, timestamp as timestampText } from '../../../domain/text/timestamp.ts'
import { readTraceparent } from '../../../domain/text/traceparent.ts'
import { shownFilter } from '../../../domain/view/run-filter.ts'
import { runSummary } from '../../../domain/view/run-summary.ts'
import type { Reads } from '../../../ports/store-reads.ts'
import type { BulkRequest, BulkView } from '../../../services/run/bulk.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { scan } from '../../access/scan.ts'
import { type Body, bodyOf } from '../../request/body.ts'
import { decodeCursor, encodeCursor, readId, readTimeAndId } from '../../request/cursor.ts'
import { attributes, pathId } from '../../request/query.ts'
import { timestamp } from '../../request/timestamp.ts'
import { checkName, validator } from '../../request/validate.ts'
import { sendJson } from '../../response/reply.ts'
import { namesOfPattern } from './workflow-names.ts'

const checkRequest = validator(operations.startBulk.body.schema)
type WireRequest = ReturnType<typeof checkRequest>

export function bulkRoutes(app: FastifyInstance, context: HttpContext): void {
  const { bulk, store, control } = context.deps

  mount(app, context, operations.startBulk, async (request, reply) => {
    const { actor } = request
    const { dryRun, ...given } = bulkRequest(bodyOf(request))
    const wanted = await resolved(store.in(actor.namespace), given)
    if (!dryRun) {
      const trace = readTraceparent(request.headers.traceparent)
      const bulkId = await bulk.start({ ...actor, ...(trace && { trace }) }, wanted)
      return sendJson(reply, 202, JSON.stringify({ bulkId }))
    }
    if (forks(wanted.action)) control.assertActive(actor.namespace)
    const counted = scan(context, reply, signal => bulk.preview(actor.namespace, wanted, signal), {
      timeoutMs: context.limits.bulkScanMs,
      tooWide: () => tooWide(wanted.filter),
    })
    const { sample, ...counts } = await counted
    return sendJson(reply, 200, JSON.stringify({ ...counts, sample: sample.map(runSummary) }))
  })

  mount(app, context, operations.listBulks, async (request, reply, { limit, cursor }) => {
    const { namespace } = request.actor
    const scope = { kind: 'bulks', namespace, filter: {} } as const
    const before = decodeCursor(cursor, scope, readTimeAndId('dueAt'))
    const { rows, jobs } = await bulk.list(namespace, { limit: limit + 1, before })
    const last: FlowRow | undefined = rows[limit - 1]
    if (rows.length > limit && last) {
      reply.header('x-next-cursor', encodeCursor(scope, [last.dueAt as number, last.id]))
    }
    return sendJson(reply, 200, JSON.stringify(jobs.slice(0, limit).map(presentBulk)))
  })

  mount(app, context, operations.getBulk, async (request, reply, { outcome, limit, cursor }) => {
    const { namespace } = request.actor
    const id = pathId(request, 'bulk job')
    const scope = { kind: 'bulkResults', namespace, filter: { id, outcome } } as const
    const after = decodeCursor(cursor, scope, readId)
    const job = await bulk.read(namespace, id)
    const found = await store.in(namespace).bulkResults(id, { outcome, limit: limit + 1, after })
    const page = found.slice(0, limit)
    const last = page.at(-1)
    const nextCursor = found.length > limit && last ? encodeCursor(scope, [last.runId]) : undefined
    if (nextCursor) reply.header('x-next-cursor', nextCursor)
    const results = page.map(presentResult)
    const newRuns = await bulk.newRuns(job)
    return sendJson(reply, 200, JSON.stringify({ ...presentBulk(job), newRuns, results, nextCursor }))
  })

  mount(app, context, operations.stopBulk, async (request, reply) =>
    sendJson(reply, 200, JSON.stringify(presentBulk(await bulk.stop(request.actor, pathId(request, 'bulk job'))))),
  )
}

function bulkRequest(body: Body | undefined): BulkRequest & { dryRun?: boolean } {
  const { action, filter, ids, dryRun, cleanup, ...rest } = checkRequest(body?.value)
  if ((filter === undefined) === (ids === undefined)) throw invalid('filter', 'or ids is required, and not both')
  for (const [i, id] of (ids ?? []).entries()) checkName(`ids[${i}]`, id)
  if ('input' in rest && action !== 'replay') throw invalid('input', 'is only for the action replay')
  if (cleanup !== undefined && action !== 'cancel') throw invalid('cleanup', 'is only for the action cancel')
  const input = body && objectMember(body.text, 'input')
  return {
    action,
    ...(filter && { filter: filterOf(filter) }),
    ...(ids && { ids }),
    ...(input === undefined ? {} : { input }),
    ...(cleanup === false ? { skipsCleanup: true } : {}),
    ...(dryRun === undefined ? {} : { dryRun }),
  }
}

/** Requires a member, so that an empty filter does not affect every run. */
function filterOf(given: NonNullable<WireRequest['filter']>): RunFilter {
  const { status, since, until, endedSince, endedUntil, attribute, deep, root, ...names } = given
  for (const [name, value] of Object.entries(names)) checkName(`filter.${name}`, value)
  if (deep !== undefined && names.q === undefined) throw invalid('filter.deep', 'is only for a filter with q')
  const filter: RunFilter = {
    ...names,
    ...(deep === undefined ? {} : { deep }),
    ...(root ? { root } : {}),
    ...(status === undefined ? {} : { status: typeof status === 'string' ? [status] : status }),
    ...timesOf({ since, until, endedSince, endedUntil }),
    ...(attribute === undefined ? {} : { attribute: attributes('filter.attribute', [attribute].flat()) }),
  }
  if (Object.keys(filter).length > 0) return filter
  throw invalid('filter', 'must have a member: it would match every run')
}

type Times = 'since' | 'until' | 'endedSince' | 'endedUntil'

function timesOf(given: { readonly [Name in Times]: string | undefined }): Pick<RunFilter, Times> {
  const times = Object.entries(given).flatMap(([name, at]) =>
    at === undefined ? [] : [[name, timestamp(`filter.${name}`, at)]],
  )
  return Object.fromEntries(times)
}

function presentResult({ runId, outcome, newRunId, error }: BulkResult) {
  return { runId: shownRunId(runId), outcome, newRunId, error }
}

/** Returns the request with the ids under which its runs are stored, and the workflows that match a pattern. */
async function resolved(reads: Pick<Reads, 'storedIds' | 'workflowNames'>, wanted: BulkRequest): Promise<BulkRequest> {
  const { ids, filter } = wanted
  const stored = async (id: string | undefined) => (id === undefined ? undefined : (await reads.storedIds([id]))[0])
  const [parentRunId, replayOf] = await Promise.all([filter?.parentRunId, filter?.replayOf].map(stored))
  const workflows = await namesOfPattern(reads, { workflow: filter?.workflow, field: 'filter.workflow' })
  return {
    ...wanted,
    ...(ids && { ids: await reads.storedIds(ids) }),
    ...(filter && {
      filter: {
        ...filter,
        ...(parentRunId === undefined ? {} : { parentRunId }),
        ...(replayOf === undefined ? {} : { replayOf }),
      },
    }),
    ...(workflows && { workflows }),
  }
}

function tooWide({ q, deep }: RunFilter = {}): EngineError {
  if (q === undefined) return invalid('filter', 'matches too many runs to count: give since, until or workflow')
  const field = deep ? 'filter.deep' : 'filter.q'
  return invalid(field, 'has to read too many runs: narrow the filter with since, until, status, workflow or app')
}

/** The job without its results. */
export function presentBulk(job: BulkView) {
  const { id, action, status, filter, actor, counts, createdAt, finishedAt } = job
  const { done, skipped, failed } = counts
  return {
    id,
    action,
    status,
    filter: filter && shownFilter(filter),
    actor,
    matched: matchedOf(job, counts),
    done,
    skipped,
    failed,
    createdAt: timestampText(createdAt),
    finishedAt: optionalTimestamp(finishedAt),
  }
}
