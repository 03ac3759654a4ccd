// Checks cleanup runs at the end of a simulation: one follows each run that ended with something to undo. It undoes every step
// with a rollback, in reverse order of storing (docs/concepts.md#cleanup-runs).

import type { Step } from '../../../packages/engine/src/domain/model/step.ts'
import { ensure, same } from '../core/violation.ts'
import { hashId } from '../workload/handler.ts'
import { hasRollback, type WorkflowSpec } from '../workload/program.ts'
import { leaves } from '../workload/runner.ts'
import type { JudgedRun, Snapshot } from './snapshot.ts'

export function checkCleanups({ runs, specs }: Snapshot): void {
  for (const record of runs.values()) {
    const { id, run } = record
    const cleanups = [...runs.values()].filter(({ run }) => run.cleanupOf === id)
    const spec = specs.find(({ name, app }) => name === run.workflow && app === run.app)
    const toUndo = spec ? undoableSteps(record, spec) : []
    const isFollowed = isUndone(record) && toUndo.length > 0
    const originals = cleanups.filter(({ run }) => run.replayOf === undefined)
    const detail = () =>
      `${JSON.stringify(run)}, to undo: ${toUndo.map(({ name }) => name)}: ${originals.map(({ id }) => id)}`
    ensure(originals.length === (isFollowed ? 1 : 0), 'what is to be undone has one cleanup run', detail, [id])
    for (const cleanup of cleanups) checkOrder(cleanup, toUndo)
  }
}

/** On-failure runs and cleanup runs have no cleanup runs. */
function isUndone({ run }: JudgedRun): boolean {
  const hasEnded = run.status === 'failed' || run.status === 'cancelled'
  return hasEnded && run.failure === undefined && run.cleanupOf === undefined
}

/** The steps with a rollback according to the workflow, not the store, in reverse order of storing. */
function undoableSteps({ steps }: JudgedRun, spec: WorkflowSpec): Step[] {
  const ids = new Set(
    leaves(spec.body)
      .filter(node => node.kind === 'run' && hasRollback(spec, node))
      .map(node => hashId(node.id)),
  )
  // A step that was settled by hand was not executed.
  return steps
    .filter(({ id, status, settledBy }) => ids.has(id) && status === 'succeeded' && !settledBy)
    .sort((a, b) => b.seq - a.seq)
}

/** A cleanup run has a rollback for each step, in order. One that was ended early has only the first ones. */
function checkOrder({ id, run, steps }: JudgedRun, toUndo: readonly Step[]): void {
  const wanted = toUndo.map(step => hashId(`rollback:${step.id}`))
  const found = [...steps].sort((a, b) => a.index - b.index).map(step => step.id)
  const expected = run.status === 'succeeded' ? wanted : wanted.slice(0, found.length)
  const detail = () => `${JSON.stringify(run)} has ${JSON.stringify(steps)}, to undo: ${JSON.stringify(toUndo)}`
  ensure(same(found, expected), 'a cleanup run undoes every step, the last one first', detail, [id])
}
