// The time in which the pass of a run that was ended from outside may still answer (docs/wire-protocol.md#late-answers). A step
// that the pass has carried out meanwhile must be undone.

import { knows } from '@perdure/protocol'
import type { CatalogView } from '../../model/catalog.ts'
import { type Run, runKind } from '../../model/run.ts'

/** Maximum seqs that the end uses after those reserved for late steps: the seqs of its lines, and its own. */
export const END_LINES_MAX = 4

/** How long the pass may answer after the end. The cleanup run waits for the same time, or until the answer is there. */
export const LATE_ANSWER_MS = 10_000

/** Maximum steps that are stored after the end. Their seqs are lower than the seq of the end, which reserves this many. */
export const LATE_STEPS_MAX = 1000

/** Whether a pass may be under way that can still answer: the run is leased, and runners of its workflow know cleanup runs. */
export function passMayAnswer(run: Readonly<Run>, catalog: CatalogView): boolean {
  const { status, leaseOwner, leasedWithoutSlots, app, workflow } = run
  const isUnderWay = leaseOwner !== undefined && !leasedWithoutSlots && (status === 'running' || status === 'paused')
  if (!isUnderWay || runKind(run) !== 'run' || run.skipsCleanup) return false
  return catalog.runners(app).some(runner => runner.workflows.includes(workflow) && knows(runner.features, 'cleanup'))
}
