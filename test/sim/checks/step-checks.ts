// Promises about steps: what is settled stays as it is, no id has two results, and every result is one that a
// runner really gave.

import type { Step } from '../../../packages/engine/src/domain/model/step.ts'
import { ensure, same } from '../core/violation.ts'
import type { RunnerRecord } from '../workload/runner-record.ts'
import { isDone, isEnded, type RunRecord } from './record.ts'

const NEXT: Readonly<Record<string, readonly string[]>> = {
  waiting: ['waiting', 'succeeded', 'failed', 'cancelled'],
  retrying: ['retrying', 'succeeded', 'failed', 'cancelled'],
}

/** From one reading of a run's steps to the next. */
export function checkStepsKept(before: readonly Step[], now: readonly Step[], runId: string): void {
  for (const old of before) {
    const step = now[old.index]
    const tell = () => `${runId}#${old.index} was ${JSON.stringify(old)}, is ${JSON.stringify(step)}`
    ensure(
      step?.id === old.id && step.op === old.op && step.name === old.name,
      'a step stays where it is',
      tell,
      [runId],
    )
    if (isDone(old)) ensure(same(old, step), 'a settled step never changes', tell, [runId])
    else {
      ensure(NEXT[old.status]?.includes(step.status), 'a step moves only as documented', tell, [runId])
      ensure(old.attempt <= step.attempt, 'step attempts only rise', tell, [runId])
    }
  }
}

/** One reading on its own. */
export function checkStepsWhole({ run, steps }: RunRecord, runnerRecord: RunnerRecord): void {
  if (run === undefined) return
  const result = tokenOf(run.result)
  ensure(
    run.status !== 'succeeded' || runnerRecord.passes(run.id).some(({ returned }) => returned === result),
    'a result is one that a runner returned',
    () => JSON.stringify(run),
    [run.id],
  )
  const ids = new Set<string>()
  for (const [position, step] of steps.entries()) {
    const tell = () => `${run.id}#${position}: ${JSON.stringify(step)}`
    ensure(step.index === position, 'step indexes are dense', tell, [run.id])
    ensure(!ids.has(step.id), 'no step id has two results', tell, [run.id])
    ids.add(step.id)
    ensure(isDone(step) || !isEnded(run), 'an ended run leaves no step open', tell, [run.id])
    if (isDone(step)) {
      ensure(
        step.finishedAt !== undefined && step.finishedAt >= step.startedAt,
        'a step ends after it began',
        tell,
        [run.id],
      )
      ensure(
        (step.error !== undefined) === (step.status === 'failed') || step.status === 'cancelled',
        'an error means failed',
        tell,
        [run.id],
      )
    }
    if (!step.carried) checkResult(run.id, step, runnerRecord)
  }
}

/** The stored result of a StepRun is that of one of its executions. */
function checkResult(runId: string, step: Step, runnerRecord: RunnerRecord): void {
  if (step.op !== 'StepRun') return
  const executions = runnerRecord.executions(runId, step.id)
  const token = step.status === 'succeeded' ? tokenOf(step.data) : step.error?.message
  if (step.status === 'cancelled' && token === undefined) return
  ensure(
    executions.some(
      execution => execution.token === token && execution.failed === (step.status !== 'succeeded'),
    ),
    'a stored result is one that a runner gave',
    () =>
      `${runId}#${step.index}: ${JSON.stringify(step)}; executed: ${executions.map(each => each.token).join(', ')}`,
    [runId],
  )
}

/** The token of a payload, if it has one. */
export function tokenOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  return (JSON.parse(text) as { token?: string } | null)?.token
}
