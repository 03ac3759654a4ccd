// Statistics as the API shows them (docs/http-api/runs.md#get-runsseries), from the counts of the store.

import {
  HOLDING_WAITS,
  RUN_KINDS,
  RUN_STATUSES,
  type RunFacets,
  type RunSeriesPoint,
  type StepStats,
  TERMINAL_STATUSES,
  WAITING_KINDS,
  type WorkflowStats,
} from '@perdure/protocol'
import type { RunKind } from '../../../domain/model/run.ts'
import { shownRunId } from '../../../domain/text/ids.ts'
import { timestamp } from '../../../domain/text/timestamp.ts'
import { percentiles } from '../../../domain/view/durations.ts'
import { SPAN_MS } from '../../../domain/view/rollup-span.ts'
import { type Ends, emptyTally, type RunTally } from '../../../domain/view/run-tally.ts'
import type { TrendSpans } from '../../../domain/view/trend-spans.ts'
import type {
  LastFailure,
  LiveRuns,
  RunSeriesQuery,
  RunTotals,
  StepDurations,
} from '../../../ports/store-statistics.ts'
import { briefMessage } from './present-step.ts'

/** Apps and workflows in the facets. */
const FACETS_MAX = 200
/** Steps of a workflow. */
const STEPS_MAX = 20

/** A point for each span, even for spans without runs. */
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
    .filter(
      ({ tally, live }) =>
        tally.started + ended(tally) + ended(tally.onFailure) + ended(tally.cleanup) + live.length > 0,
    )
    .sort((a, b) => ended(b.tally) - ended(a.tally) || (keyOf(a) < keyOf(b) ? -1 : 1))
    .slice(0, limit)
    .map(({ app, workflow, tally, trend, live }) => ({
      app,
      workflow,
      ...presentTally(tally),
      inFlight: sum(live.filter(isOfHandler)),
      ...presentHeld(live.filter(isOfHandler)),
      onFailure: { ...tally.onFailure, inFlight: sum(live.filter(({ kind }) => kind === 'onFailure')) },
      cleanup: { ...tally.cleanup, inFlight: sum(live.filter(({ kind }) => kind === 'cleanup')) },
      ...presentFailure(failureOf.get(keyOf({ app, workflow }))?.[0]),
      steps: presentSteps(stepsOf.get(keyOf({ app, workflow })) ?? []),
      ...(spans && trend ? { trend: { at: timestamp(spans.from), spanMs: spans.spanMs, ...trend } } : {}),
    }))
}

function isOfHandler({ kind }: LiveRuns): boolean {
  return kind === 'run'
}

function presentHeld(live: readonly LiveRuns[]): Pick<WorkflowStats, 'held' | 'heldBy'> {
  const queued = live.filter(({ status }) => status === 'queued')
  const heldBy = zeros(HOLDING_WAITS)
  for (const kind of HOLDING_WAITS) heldBy[kind] = sum(queued.filter(({ waitingKind }) => waitingKind === kind))
  return { held: Object.values(heldBy).reduce((all, runs) => all + runs, 0), heldBy }
}

export interface FacetFilter {
  /** All live runs count, or only the ones created in the window. */
  withAllLive: boolean
  status?: readonly string[] | undefined
  waitingFor?: string | undefined
  kind?: RunKind | undefined
}

/** Runs that are equal in every counted property. */
type Equal = Pick<LiveRuns, 'app' | 'workflow' | 'kind' | 'status' | 'runs'> & Partial<Pick<LiveRuns, 'waitingKind'>>

/** Counts runs by each property. The filter by a property does not apply to the counts by that property. */
export function presentFacets(totals: RunTotals, filter: FacetFilter): RunFacets {
  const [status, waitingFor, kind] = [zeros(RUN_STATUSES), zeros(WAITING_KINDS), zeros(RUN_KINDS)]
  const waits = new Map<string, RunFacets['waits'][number]>()
  const ofApp = new Map<string, number>()
  const ofWorkflow = new Map<string, { app: string; workflow: string; runs: number }>()
  for (const each of equalRuns(totals, filter)) {
    const { app, workflow, runs } = each
    const matches = matchesOf(each, filter)
    const isIn = (...properties: (keyof typeof matches)[]) => properties.every(property => matches[property])
    if (isIn('waitingFor', 'kind')) status[each.status] += runs
    if (each.waitingKind && isIn('status', 'kind')) {
      waitingFor[each.waitingKind] += runs
      addWait(waits, { status: each.status, waitingFor: each.waitingKind, runs })
    }
    if (isIn('status', 'waitingFor')) kind[each.kind] += runs
    if (!isIn('status', 'waitingFor', 'kind')) continue
    ofApp.set(app, (ofApp.get(app) ?? 0) + runs)
    ofWorkflow.set(keyOf(each), { app, workflow, runs: (ofWorkflow.get(keyOf(each))?.runs ?? 0) + runs })
  }
  return {
    status,
    app: largest([...ofApp].map(([app, runs]) => ({ app, runs }))),
    workflow: largest([...ofWorkflow.values()]),
    waitingFor,
    waits: [...waits.values()].filter(({ runs }) => runs > 0),
    kind,
  }
}

type Wait = RunFacets['waits'][number]

function addWait(waits: Map<string, Wait>, { status, waitingFor, runs }: Wait): void {
  const key = `${status} ${waitingFor}`
  waits.set(key, { status, waitingFor, runs: (waits.get(key)?.runs ?? 0) + runs })
}

function* equalRuns({ workflows, live }: RunTotals, { withAllLive }: FacetFilter): Generator<Equal> {
  for (const { app, workflow, tally } of workflows) {
    for (const status of TERMINAL_STATUSES) {
      yield { app, workflow, kind: 'run', status, runs: tally[status] }
      yield { app, workflow, kind: 'onFailure', status, runs: tally.onFailure[status] }
      yield { app, workflow, kind: 'cleanup', status, runs: tally.cleanup[status] }
    }
  }
  for (const each of live) yield withAllLive ? each : { ...each, runs: each.created }
}

/** Which parts of the filter the runs match. */
function matchesOf({ status, waitingKind, kind }: Equal, filter: FacetFilter) {
  const isStatus = (name: string) => name === status || (name === 'running' && status === 'waiting')
  return {
    status: filter.status?.some(isStatus) ?? true,
    waitingFor: filter.waitingFor === undefined || filter.waitingFor === waitingKind,
    kind: filter.kind === undefined || filter.kind === kind,
  }
}

function zeros<Name extends string>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map(name => [name, 0])) as Record<Name, number>
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

function ended({ succeeded, failed, cancelled }: Ends): number {
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
