// Checks budgets at the end of a simulation: the sum of a budget contains the spending of each stored attempt once, and only
// spending of runners (docs/budgets.md).

import type { Store } from '../../../../packages/engine/src/ports/store.ts'
import { ensure } from '../../core/violation.ts'
import { tokensOf } from '../../workload/runner.ts'
import type { JudgedRun, Snapshot } from '../snapshot.ts'

export async function checkBudgets({ runs, runnerRecord }: Snapshot, store: Store): Promise<void> {
  const under = new Map<string, JudgedRun[]>()
  for (const record of runs.values())
    for (const { id } of record.run.budgets ?? []) under.set(id, [...(under.get(id) ?? []), record])
  for (const [budgetId, records] of under) {
    const line = (await store.budgets([budgetId])).find(({ name }) => name === 'tokens')
    const least = sum(records.map(storedTokens))
    const most = sum(records.map(({ id }) => sum(executedTokens(id))))
    const detail = () => `${JSON.stringify(line)}: from ${least} to ${most} by ${records.map(({ id }) => id)}`
    ensure(line && least <= line.whole && line.whole <= most, 'each attempt counts once', detail, [budgetId])
  }

  /** The tokens of the attempts of the run, each once: a repeat of an attempt that was not stored spends the same. */
  function executedTokens(runId: string): number[] {
    const attempts = new Set(runnerRecord.executionsOf(runId).map(({ stepId, attempt }) => `${stepId} ${attempt}`))
    return [...attempts].map(key => {
      const [stepId = '', attempt] = key.split(' ')
      return tokensOf(runId, stepId, Number(attempt))
    })
  }
}

/** The tokens of steps that a pass ended. The last attempt of other steps may have been reported or not. */
function storedTokens({ id, steps }: JudgedRun): number {
  const ran = steps.filter(({ op, carried, settledBy, status }) => {
    const isByPass = op === 'StepRun' && !carried && !settledBy
    return isByPass && (status === 'succeeded' || status === 'failed')
  })
  return sum(ran.flatMap(step => Array.from({ length: step.attempt }, (_, i) => tokensOf(id, step.id, i + 1))))
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)
