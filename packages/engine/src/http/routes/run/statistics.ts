// Counts runs over time, by workflow, and in facets (docs/http-api/runs.md#get-runsseries).

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { totalSince } from '../../../domain/view/rollup-span.ts'
import { trendSpans } from '../../../domain/view/trend-spans.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { scan } from '../../access/scan.ts'
import { RequestPermits } from '../../bounds/request-permits.ts'
import { SINCE_DEFAULT_MS, seriesWindow } from '../../request/series-window.ts'
import { sendJson } from '../../response/reply.ts'
import { presentFacets, presentSeries, presentWorkflowStats } from './present-statistics.ts'

/** Statistics that are read at the same time, and that wait. */
const READS_MAX = 4
const WAITING_MAX = { all: 200, perNamespace: 100, perKey: 100, bytes: Number.POSITIVE_INFINITY }

export function statisticsRoutes(app: FastifyInstance, context: HttpContext): void {
  const { store, clock } = context.deps
  const refusal = 'too many requests for statistics: try again later'
  const permits = new RequestPermits({ max: () => READS_MAX, waitingMax: WAITING_MAX, refusal })

  const read = <T>(reply: FastifyReply, work: (signal: AbortSignal) => Promise<T>) => {
    const { actor: caller } = reply.request
    const withPermit = async (signal: AbortSignal) => {
      await permits.take({ caller, signal })
      try {
        return await work(signal)
      } finally {
        permits.giveBack()
      }
    }
    return scan(context, reply, withPermit, { timeoutMs: context.limits.statisticsMs })
  }

  mount(app, context, operations.getRunSeries, async (request, reply, { step, app, workflow, ...asked }) => {
    const query = { step, app, workflow, ...seriesWindow(step, asked, clock.now()) }
    if (query.since >= query.until) return sendJson(reply, 200, '[]')
    const reads = store.in(request.actor.namespace)
    const series = await read(reply, signal => reads.runSeries(query, signal))
    return sendJson(reply, 200, JSON.stringify(presentSeries(query, series)))
  })

  mount(app, context, operations.getWorkflowStats, async (request, reply, { limit, trend, ...asked }) => {
    const now = clock.now()
    const { app, workflow } = asked
    const since = totalSince(asked.since ?? now - SINCE_DEFAULT_MS, now)
    const until = asked.until === undefined ? undefined : totalSince(asked.until, now)
    const spans = trend === undefined ? undefined : trendSpans({ since, until: until ?? now + 1 }, trend, now)
    const query = { app, workflow, since, until, trend: spans }
    const reads = store.in(request.actor.namespace)
    const parts = await read(reply, async signal => ({
      totals: await reads.runTotals(query, signal),
      failures: await reads.lastFailures({ app, workflow, since, until }, signal),
      steps: await reads.stepDurations({ app, workflow }, signal),
    }))
    return sendJson(reply, 200, JSON.stringify(presentWorkflowStats(parts, { limit, trend: spans })))
  })

  mount(app, context, operations.getRunFacets, async (request, reply, { app, workflow, since, until, ...filter }) => {
    const now = clock.now()
    const startOf = (time: number | undefined) => (time === undefined ? undefined : totalSince(time, now))
    const query = { app, workflow, since: startOf(since), until: startOf(until), countsOnly: true }
    const reads = store.in(request.actor.namespace)
    const totals = await read(reply, signal => reads.runTotals(query, signal))
    return sendJson(reply, 200, JSON.stringify(presentFacets(totals, { ...filter, withAllLive: until === undefined })))
  })
}
