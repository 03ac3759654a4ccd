// Adds the running steps to a page of stored steps (docs/http-api/runs.md#get-runsidsteps). Called by run-steps.ts.

import { isSettled, type Step } from '../../domain/model/step.ts'
import { asStep, type RunningStep } from '../../domain/view/running-step.ts'
import type { Reads, StepQuery } from '../../ports/store-reads.ts'
import type { RunningSteps } from './running-steps.ts'

/** The running steps of a run of the namespace. */
export async function runningOf(
  runningSteps: RunningSteps,
  reads: Pick<Reads, 'status' | 'run'>,
  runId: string,
): Promise<readonly RunningStep[]> {
  const here = runningSteps.here(runId)
  if (here || !runningSteps.isShared || (await reads.status(runId))?.status !== 'running') return here ?? []
  const run = await reads.run(runId)
  return run ? ((await runningSteps.of([run])).get(runId) ?? []) : []
}

interface Page {
  runId: string
  /** Stored steps that match the query. */
  steps: readonly Step[]
  /** Whether stored steps follow on later pages. */
  isMore: boolean
  query: StepQuery
  running: readonly RunningStep[]
}

/**
 * The page, with the present state of stored steps that run again, and, on the last page, running steps of which nothing is
 * stored.
 */
export async function withRunning(reads: Pick<Reads, 'step'>, page: Page): Promise<Step[]> {
  const { runId, steps, isMore, query, running } = page
  const wanted = query.status === undefined || query.status.includes('running')
  if (!wanted || running.length === 0) return [...steps]
  const byId = new Map(running.map(one => [one.id, one]))
  const shown = steps.map(step => {
    const now = byId.get(step.id)
    byId.delete(step.id)
    return now && !isSettled(step.status) ? asStep(now, { runId, stored: step }) : step
  })
  if (isMore) return shown
  const q = query.q?.toLowerCase()
  for (const one of byId.values()) {
    if (one.index <= (query.after ?? -1) || (q !== undefined && !one.name.toLowerCase().includes(q))) continue
    const stored = (await reads.step(runId, one.id))?.step
    // Only a stored step that the filter for the status left out belongs here; any other is on this page or another one.
    if (stored && (isSettled(stored.status) || query.status === undefined)) continue
    shown.push(asStep(one, { runId, stored }))
  }
  return shown
}
