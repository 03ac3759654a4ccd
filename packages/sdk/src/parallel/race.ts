// `step.race`: the first branch wins, and the others are cut off. Called by the step tools.

import { NonRetriableError } from '@perdure/client'
import type { Pass } from '../pass/pass.ts'
import { refuseNesting } from '../pass/pass-scope.ts'
import type { Branch, RaceBranch } from '../run/branch.ts'
import { beginBranch } from './within-branch.ts'

/** Races the branches. Rejects if the branch that settles first rejects. */
export async function race(pass: Pass, branches: Readonly<Record<string, RaceBranch>>): Promise<unknown> {
  refuseNesting(pass, 'race')
  const begun = entriesOf(branches).map(([name, branch]) => ({ name, ...begin(pass, name, branch) }))
  const settled = begun.map(({ name, promise }) =>
    promise.then(
      value => ({ winner: name, value }),
      error => ({ winner: name, error }),
    ),
  )
  const first = await Promise.race(settled)
  for (const { name, branch } of begun)
    if (name !== first.winner)
      pass.cutOff(branch, new Error(`Branch "${first.winner}" of the race was faster than "${name}"`))
  if ('error' in first) throw first.error
  return first
}

function begin(pass: Pass, name: string, called: RaceBranch): { branch: Branch; promise: PromiseLike<unknown> } {
  const { branch, within } = beginBranch(pass)
  if (typeof called === 'function') return { branch, promise: within(() => asPromise(called)) }
  if (typeof called?.then !== 'function') throw refusal(`"${name}" must be a function that calls steps`)
  pass.adopt(called as { stepId?: string }, branch)
  return { branch, promise: called }
}

/** Leaves the promise of a wait as it is: it shows whether anybody got its event. */
function asPromise(called: () => unknown): PromiseLike<unknown> {
  try {
    const returned = called()
    const isPromise = typeof (returned as PromiseLike<unknown> | undefined)?.then === 'function'
    return isPromise ? (returned as PromiseLike<unknown>) : Promise.resolve(returned)
  } catch (error) {
    return Promise.reject(error)
  }
}

function entriesOf(branches: unknown): [string, RaceBranch][] {
  const isRecord = typeof branches === 'object' && branches !== null && !Array.isArray(branches)
  const entries = isRecord ? Object.entries(branches as Record<string, RaceBranch>) : []
  if (entries.length === 0) throw refusal('it takes an object of at least one branch, { name: () => step… }')
  return entries
}

function refusal(problem: string): NonRetriableError {
  return new NonRetriableError(`step.race: ${problem}`)
}
