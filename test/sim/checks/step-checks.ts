// Checks steps: a settled step never changes, no step id has two results, and a runner returned every result.

import type { Step } from '../../../packages/engine/src/domain/model/step.ts'
import type { RunView } from '../../../packages/engine/src/ports/store-reads.ts'
import { ensure, same } from '../core/violation.ts'
import type { RunnerRecord } from '../workload/runner-record.ts'
import { isDone, isEnded, isSpent, type RunRecord } from './record.ts'

const NEXT: Readonly<Record<string, readonly string[]>> = {
  waiting: ['waiting', 'succeeded', 'failed', 'cancelled'],
  retrying: ['retrying', 'succeeded', 'failed', 'cancelled'],
}

/** Compares two successive reads of a run's steps. */
export function checkStepsKept(before: readonly Step[], now: readonly Step[], runId: string): void {
  for (const old of before) {
    const step = now[old.index]
    const detail = () => `${runId}#${old.index} was ${JSON.stringify(old)}, is ${JSON.stringify(step)}`
    ensure(step?.id === old.id && step.op === old.op && step.name === old.name, 'a step stays where it is', detail, [
      runId,
    ])
    // Resuming retries a step whose attempts were spent.
    const isRenewed = isSpent(old) && !(step?.status === 'failed' && step.attempt === old.attempt)
    if (isLateResult(old, step)) continue
    if (isDone(old) && !isRenewed) ensure(same(old, step), 'a settled step never changes', detail, [runId])
    else {
      const isTurn = step.limit !== undefined && !isDone(step)
      ensure(
        isRenewed || isTurn || NEXT[old.status]?.includes(step.status),
        'a step moves only as documented',
        detail,
        [runId],
      )
      ensure(old.attempt <= step.attempt, 'step attempts only rise', detail, [runId])
    }
  }
}

/** Whether a step that was cancelled with its run then succeeded in the pass under way, and must be undone. */
function isLateResult(old: Step, step: Step): boolean {
  return old.status === 'cancelled' && old.op === 'StepRun' && step.status === 'succeeded'
}

/** Checks one read of a run's steps. */
export function checkStepsWhole({ run, steps, wall }: RunRecord, runnerRecord: RunnerRecord): void {
  if (run === undefined) return
  const result = tokenOf(run.result)
  ensure(
    run.status !== 'succeeded' ||
      run.continuedAs !== undefined ||
      runnerRecord.passes(run.id).some(({ returned }) => returned === result),
    'a result is one that a runner returned',
    () => JSON.stringify(run),
    [run.id],
  )
  checkEndedWith(run, steps, runnerRecord)
  const ids = new Set<string>()
  for (const [position, step] of steps.entries()) {
    const detail = () => `${run.id}#${position}: ${JSON.stringify(step)}`
    ensure(step.index === position, 'step indexes are dense', detail, [run.id])
    ensure(!ids.has(step.id), 'no step id has two results', detail, [run.id])
    ids.add(step.id)
    ensure(isDone(step) || !isEnded(run), 'an ended run leaves no step open', detail, [run.id])
    if (isDone(step)) {
      const isLater = wall.wasSet || (step.finishedAt ?? 0) >= step.startedAt
      ensure(step.finishedAt !== undefined && isLater, 'a step ends after it began', detail, [run.id])
      ensure(
        (step.error !== undefined) === (step.status === 'failed') || step.status === 'cancelled',
        'an error means failed',
        detail,
        [run.id],
      )
    }
    if (!step.carried) checkResult(run.id, step, runnerRecord)
  }
}

/** Steps that were reported together with the end are stored with it, and before it. */
function checkEndedWith(run: RunView, steps: readonly Step[], runnerRecord: RunnerRecord): void {
  if (run.status !== 'succeeded') return
  const result = tokenOf(run.result)
  const pass = runnerRecord.passes(run.id).find(({ returned }) => returned !== undefined && returned === result)
  for (const id of pass?.endedWith ?? []) {
    const step = steps.find(one => one.id === id)
    const isStored = step !== undefined && isDone(step) && step.status !== 'cancelled'
    const detail = () => `${run.id}, pass ${pass?.no}, step ${id}: ${JSON.stringify(step)}`
    ensure(isStored, 'an end is stored with the steps that came with it', detail, [run.id])
    ensure(step.seq < (run.finishedSeq ?? 0), 'a step comes before the end of its run', detail, [run.id])
  }
}

/** The stored result of a StepRun is the result of one of the step's executions. */
function checkResult(runId: string, step: Step, runnerRecord: RunnerRecord): void {
  if (step.op !== 'StepRun' || step.settledBy) return
  const executions = runnerRecord.executions(runId, step.id)
  const token = step.status === 'succeeded' ? tokenOf(step.data) : step.error?.message
  // A step may wait for its first turn.
  const isBeforeAttempt = step.status === 'cancelled' || (step.limit !== undefined && step.status === 'waiting')
  if (isBeforeAttempt && token === undefined) return
  ensure(
    executions.some(execution => execution.token === token && execution.failed === (step.status !== 'succeeded')),
    'a stored result is one that a runner gave',
    () => `${runId}#${step.index}: ${JSON.stringify(step)}; executed: ${executions.map(each => each.token).join(', ')}`,
    [runId],
  )
}

/** The token of a payload, if the payload has one. */
export function tokenOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  return (JSON.parse(text) as { token?: string } | null)?.token
}
