// Counts runs over time, by workflow, and in facets (docs/http-api.md#get-runsseries).

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { invalid } from '../../../domain/model/errors.ts'
import { type SeriesStep, SPAN_KEPT_MS, SPAN_MS, spanStart, totalSince } from '../../../domain/view/rollup-span.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { Places } from '../../access/places.ts'
import { scan } from '../../access/scan.ts'
import { sendJson } from '../../response/reply.ts'
import { presentFacets, presentSeries, presentWorkflowStats } from './present-statistics.ts'

const SINCE_DEFAULT_MS = 86_400_000
const POINTS_MAX = 750
/** Statistics that are read at once. */
const PLACES = 4

export function statisticsRoutes(app: FastifyInstance, context: HttpContext): void {
  const { store, clock } = context.deps
  const places = new Places(PLACES)

  const read = <T>(reply: FastifyReply, work: (signal: AbortSignal) => Promise<T>) =>
    scan(context, reply, signal => places.with(signal, () => work(signal)), { timeoutMs: context.limits.statisticsMs })

  mount(app, context, operations.getRunSeries, async (request, reply, { step, app, workflow, ...asked }) => {
    const query = { step, app, workflow, ...window(step, asked, clock.now()) }
    if (query.since >= query.until) return sendJson(reply, 200, '[]')
    const reads = store.in(request.actor.namespace)
    const series = await read(reply, signal => reads.runSeries(query, signal))
    return sendJson(reply, 200, JSON.stringify(presentSeries(query, series)))
  })

  mount(app, context, operations.getWorkflowStats, async (request, reply, { limit, app, workflow, since }) => {
    const now = clock.now()
    const query = { app, workflow, since: totalSince(since ?? now - SINCE_DEFAULT_MS, now) }
    const reads = store.in(request.actor.namespace)
    const parts = await read(reply, async signal => ({
      totals: await reads.runTotals(query, signal),
      failures: await reads.lastFailures(query, signal),
      steps: await reads.stepDurations({ app, workflow }, signal),
    }))
    return sendJson(reply, 200, JSON.stringify(presentWorkflowStats(parts, limit)))
  })

  mount(app, context, operations.getRunFacets, async (request, reply, { app, workflow, since }) => {
    const query = { app, workflow, since: since === undefined ? undefined : totalSince(since, clock.now()) }
    const reads = store.in(request.actor.namespace)
    const totals = await read(reply, signal => reads.runTotals(query, signal))
    return sendJson(reply, 200, JSON.stringify(presentFacets(totals)))
  })
}

/** The window that a request gives: `since` is the beginning of the first one, `until` the end of the last one. */
function window(step: SeriesStep, asked: { since: number | undefined; until: number | undefined }, now: number) {
  const length = SPAN_MS[step]
  const until = Math.ceil((asked.until ?? now + 1) / length) * length
  const since = spanStart(step, asked.since ?? until - SINCE_DEFAULT_MS)
  const points = (until - since) / length
  if (points > POINTS_MAX) {
    throw invalid('step', `gives ${points} points between since and until: at most ${POINTS_MAX} are given`)
  }
  const keptMs = step === '1d' ? undefined : SPAN_KEPT_MS[step]
  if (keptMs !== undefined && since < spanStart(step, now) - keptMs) {
    throw invalid('step', `is kept for ${keptMs / SPAN_MS['1d']} days: take a longer step, or a later since`)
  }
  return { since, until }
}
