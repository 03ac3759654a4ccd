// The parts of a followed run that its cleanup run needs: the steps to undo, and the results for the handler of cancelled runs. Used by
// clean-up.ts and the replay.

import { type CleanupContext, type FollowedStep, hashStepId, positionalStepId } from '@perdure/protocol'

/** A step of the followed run to undo. */
export interface StepToUndo {
  /** Hashed id. */
  readonly id: string
  /** The name of the step, with `:n` from the second use of the name on. */
  readonly position: string
  readonly result: unknown
}

/** Returns the name of the step that undoes another. No other step has this name, because positions differ. */
export function rollbackNameOf(position: string): string {
  return `rollback:${position}`
}

/** The steps that succeeded and have a rollback, the last stored one first. */
export function stepsToUndo({ steps }: Pick<CleanupContext, 'steps'>): StepToUndo[] {
  const positions = new Positions()
  const found: StepToUndo[] = []
  for (const [id, entry] of Object.entries(steps)) {
    if (entry.rollback !== true || !hasSucceeded(entry)) continue
    found.push({ id, position: positions.of(id, entry.name), result: entry.data })
  }
  return found.reverse()
}

/** The kinds of step whose result a handler gets. */
const WITH_RESULT: ReadonlySet<string | undefined> = new Set<string | undefined>([
  'StepRun',
  'RunWorkflow',
  'WaitForEvent',
  'WaitForCallback',
  'WaitForRun',
  undefined,
])

/**
 * The results of the steps that succeeded, by position, in the order in which they were stored. `read` turns each into the
 * handler's value.
 */
export function resultsOf(
  { steps }: Pick<CleanupContext, 'steps'>,
  read: (entry: FollowedStep) => unknown,
): Record<string, unknown> {
  const positions = new Positions()
  const results: [string, unknown][] = []
  for (const [id, entry] of Object.entries(steps)) {
    if (!hasSucceeded(entry) || !WITH_RESULT.has(entry.op)) continue
    results.push([positions.of(id, entry.name), read(entry)])
  }
  // Unlike an assignment this makes an own property of every name.
  return Object.fromEntries(results)
}

function hasSucceeded({ error, pending }: FollowedStep): boolean {
  return error === undefined && pending !== true
}

/** Finds the position of a step from its hashed id. Computes each hash once: a loop may have used a name thousands of times. */
class Positions {
  readonly #byName = new Map<string, { hashes: Map<string, string>; next: number }>()

  of(id: string, name: string): string {
    const known = this.#byName.get(name) ?? { hashes: new Map<string, string>(), next: 0 }
    this.#byName.set(name, known)
    for (; !known.hashes.has(id) && known.next < USES_MAX; known.next++) {
      const position = positionalStepId(name, known.next)
      known.hashes.set(hashStepId(position), position)
    }
    return known.hashes.get(id) ?? name
  }
}

/** Twice the maximum of steps per run: a use takes the next id if another step already has its id. */
const USES_MAX = 20_000
