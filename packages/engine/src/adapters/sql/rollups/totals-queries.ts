// Runs of each workflow in numbers, since a time or of all time: from the roll-ups, from what they have not counted yet, and from
// live runs, all at one moment, so that each run counts once. Called by the reads.

import { totalRanges } from '../../../domain/view/rollup-span.ts'
import { addTally, emptyTally, type RunTally } from '../../../domain/view/run-tally.ts'
import type { LiveRuns, RunTotals, RunTotalsQuery, WorkflowTally } from '../../../ports/store-statistics.ts'
import type { Query, Row } from '../description/values.ts'
import { RUN_ROLLUPS } from '../tables/ended-runs.ts'
import { LIVE_STATUSES } from '../tables/statuses.ts'
import { endGroup, uncountedQuery } from './ends.ts'
import { rollupTally } from './rollup-rows.ts'
import { inScope, ofWorkflows } from './scope.ts'

/** Rows of live runs, of uncounted ends, and of the roll-ups of each workflow. */
export function totalsQueries(namespace: string, { since, ...scope }: RunTotalsQuery): Query[] {
  const { terms, params } = inScope(namespace, scope)
  return [
    {
      // The planner must not read all runs in the order of their app, to have its groups one after the other.
      sql: `SELECT app || '', workflow || '', status, waiting_kind, count(*), count(CASE WHEN created_at >= ? THEN 1 END)
        FROM runs WHERE ${terms} AND status IN ${LIVE_STATUSES} GROUP BY 1, 2, 3, 4`,
      params: [since ?? 0, ...params],
    },
    uncountedQuery(namespace, scope),
    ...totalRanges(since).map(range => ofWorkflows(namespace, scope, range)),
  ]
}

type LiveRow = [string, string, LiveRuns['status'], LiveRuns['waitingKind'] | null, number, number]

export function runTotals({ since = 0 }: RunTotalsQuery, answers: readonly Row[][]): RunTotals {
  const [live, uncounted, ...rollups] = answers as [LiveRow[], Row[], ...Row[][]]
  const workflows = new Map<string, WorkflowTally>()
  const of = (app: string, workflow: string): RunTally => {
    const key = JSON.stringify([app, workflow])
    const known = workflows.get(key) ?? { app, workflow, tally: emptyTally() }
    workflows.set(key, known)
    return known.tally
  }
  for (const row of rollups.flat().map(RUN_ROLLUPS.fromRow)) addTally(of(row.app, row.workflow), rollupTally(row))
  for (const { app, workflow, ended, endedAt, createdAt, runs } of uncounted.map(endGroup)) {
    if (endedAt >= since) addTally(of(app, workflow), ended)
    if (createdAt >= since) of(app, workflow).started += runs
  }
  const groups = live.map(([app, workflow, status, waitingKind, runs, started]): LiveRuns => {
    of(app, workflow).started += started
    return { app, workflow, status, runs, waitingKind: waitingKind ?? undefined }
  })
  return { workflows: [...workflows.values()], live: groups }
}
