// Statistics as the API shows them (docs/http-api.md#get-runsseries), from the counts of the store.

import {
  RUN_STATUSES,
  type RunFacets,
  type RunSeriesPoint,
  type StepStats,
  TERMINAL_STATUSES,
  WAITING_KINDS,
  type WorkflowStats,
} from '@perdure/protocol'
import { shownRunId } from '../../../domain/text/ids.ts'
import { timestamp } from '../../../domain/text/timestamp.ts'
import { percentiles } from '../../../domain/view/durations.ts'
import { SPAN_MS } from '../../../domain/view/rollup-span.ts'
import { emptyTally, type RunTally } from '../../../domain/view/run-tally.ts'
import type { TrendSpans } from '../../../domain/view/trend-spans.ts'
import type {
  LastFailure,
  LiveRuns,
  RunSeriesQuery,
  RunTotals,
  StepDurations,
} from '../../../ports/store-statistics.ts'
import { briefMessage } from './brief-message.ts'

/** Apps and workflows in the facets. */
const FACETS_MAX = 200
/** Steps of a workflow. */
const STEPS_MAX = 20
/** A queued run that waits for one of these is held. */
const HELD_BY: readonly LiveRuns['waitingKind'][] = ['concurrency', 'throttle', 'runner', 'workflow-paused']

/** A point for each span, also for those without runs. */
export function presentSeries({ step, since, until }: RunSeriesQuery, series: Map<number, RunTally>): RunSeriesPoint[] {
  const points: RunSeriesPoint[] = []
  for (let at = since; at < until; at += SPAN_MS[step]) {
    points.push({ at: timestamp(at), ...presentTally(series.get(at) ?? emptyTally()) })
  }
  return points
}

export interface StatsParts {
  totals: RunTotals
  failures: readonly LastFailure[]
  steps: readonly StepDurations[]
}

/** The workflows with the most ended runs, at most `limit`, each with the runs in the spans of the trend. */
export function presentWorkflowStats(
  { totals, failures, steps }: StatsParts,
  { limit, trend: spans }: { limit: number; trend: TrendSpans | undefined },
): WorkflowStats[] {
  const live = groupBy(totals.live)
  const failureOf = groupBy(failures)
  const stepsOf = groupBy(steps)
  return totals.workflows
    .map(({ app, workflow, tally, trend }) => ({
      app,
      workflow,
      tally,
      trend,
      live: live.get(keyOf({ app, workflow })) ?? [],
    }))
    .filter(({ tally, live }) => tally.started + ended(tally) + live.length > 0)
    .sort((a, b) => ended(b.tally) - ended(a.tally) || (keyOf(a) < keyOf(b) ? -1 : 1))
    .slice(0, limit)
    .map(({ app, workflow, tally, trend, live }) => ({
      app,
      workflow,
      ...presentTally(tally),
      inFlight: sum(live),
      held: sum(live.filter(({ status, waitingKind }) => status === 'queued' && HELD_BY.includes(waitingKind))),
      ...presentFailure(failureOf.get(keyOf({ app, workflow }))?.[0]),
      steps: presentSteps(stepsOf.get(keyOf({ app, workflow })) ?? []),
      ...(spans && trend ? { trend: { at: timestamp(spans.from), spanMs: spans.spanMs, ...trend } } : {}),
    }))
}

export interface FacetFilter {
  /** All live runs count, or only those that were created in the window. */
  withAllLive: boolean
  status?: readonly string[] | undefined
  waitingFor?: string | undefined
}

/** Counts runs by each property. The filter by a property does not hold for the counts by it. */
export function presentFacets({ workflows, live }: RunTotals, filter: FacetFilter): RunFacets {
  const status = Object.fromEntries(RUN_STATUSES.map(status => [status, 0])) as Record<string, number>
  const waitingFor = Object.fromEntries(WAITING_KINDS.map(kind => [kind, 0])) as Record<string, number>
  const ofApp = new Map<string, number>()
  const ofWorkflow = new Map<string, { app: string; workflow: string; runs: number }>()
  const hasStatus = (name: string) =>
    filter.status?.some(each => each === name || (each === 'running' && name === 'waiting')) ?? true
  const add = (of: { app: string; workflow: string }, name: string, runs: number, kind?: LiveRuns['waitingKind']) => {
    const isWaiting = filter.waitingFor === undefined || filter.waitingFor === kind
    if (isWaiting) status[name] = (status[name] ?? 0) + runs
    if (kind && hasStatus(name)) waitingFor[kind] = (waitingFor[kind] ?? 0) + runs
    if (!isWaiting || !hasStatus(name)) return
    ofApp.set(of.app, (ofApp.get(of.app) ?? 0) + runs)
    const { app, workflow } = of
    ofWorkflow.set(keyOf(of), { app, workflow, runs: (ofWorkflow.get(keyOf(of))?.runs ?? 0) + runs })
  }
  for (const each of workflows) for (const name of TERMINAL_STATUSES) add(each, name, each.tally[name])
  for (const each of live) add(each, each.status, filter.withAllLive ? each.runs : each.created, each.waitingKind)
  return {
    status,
    app: largest([...ofApp].map(([app, runs]) => ({ app, runs }))),
    workflow: largest([...ofWorkflow.values()]),
    waitingFor,
  }
}

function presentTally({ started, succeeded, failed, cancelled, durations, queueTimes }: RunTally) {
  const { queueP95Ms } = percentiles(queueTimes, { queueP95Ms: 0.95 })
  return {
    started,
    succeeded,
    failed,
    cancelled,
    ...percentiles(durations, { p50Ms: 0.5, p95Ms: 0.95, p99Ms: 0.99 }),
    ...(queueP95Ms === undefined ? {} : { queueP95Ms }),
  }
}

function presentFailure(failure: LastFailure | undefined): Pick<WorkflowStats, 'lastFailure'> {
  if (!failure) return {}
  const { runId, at, error } = failure
  const { stepName, code } = error
  return { lastFailure: { runId: shownRunId(runId), at: timestamp(at), stepName, code, message: briefMessage(error) } }
}

function presentSteps(steps: readonly StepDurations[]): StepStats[] {
  return [...steps]
    .sort((a, b) => b.durations.sumMs - a.durations.sumMs || (a.name < b.name ? -1 : 1))
    .slice(0, STEPS_MAX)
    .map(({ name, count, durations }) => {
      const { p95Ms = 0 } = percentiles(durations, { p95Ms: 0.95 })
      return { name, count, totalMs: durations.sumMs, p95Ms }
    })
}

function largest<T extends { runs: number }>(facets: T[]): T[] {
  return facets
    .filter(({ runs }) => runs > 0)
    .sort((a, b) => b.runs - a.runs)
    .slice(0, FACETS_MAX)
}

function ended({ succeeded, failed, cancelled }: RunTally): number {
  return succeeded + failed + cancelled
}

function sum(groups: readonly LiveRuns[]): number {
  return groups.reduce((all, { runs }) => all + runs, 0)
}

function keyOf({ app, workflow }: { app: string; workflow: string }): string {
  return `${app}\n${workflow}`
}

function groupBy<T extends { app: string; workflow: string }>(items: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return groups
}
