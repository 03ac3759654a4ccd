// Ids of the steps of one pass: the hash of the step's name, with a position from the second use of the name on. Used by
// the pass.

import { NonRetriableError } from '@perdure/client'
import { hashStepId, positionalStepId, STEP_NAME_CHARS_MAX } from '@perdure/protocol'

export interface StepId {
  readonly name: string
  /** How many times the name was used before in this run. */
  readonly use: number
  readonly hashedId: string
}

/** Assigns the ids of one pass. The same calls in the same order get the same ids in every pass. */
export class StepIds {
  readonly #uses = new Map<string, number>()
  readonly #taken = new Set<string>()

  get count(): number {
    return this.#taken.size
  }

  next(name: string): StepId {
    if (typeof name !== 'string' || name === '' || name.length > STEP_NAME_CHARS_MAX) {
      const given = typeof name === 'string' ? '' : `, given as the first argument, not ${kindOf(name)}`
      throw new NonRetriableError(`A step name must be a string of 1 to ${STEP_NAME_CHARS_MAX} characters${given}`)
    }
    let use = this.#uses.get(name) ?? 0
    // A name such as "a:1" may already have the id that the second use of "a" would get: then the next position is used.
    while (this.#taken.has(positionalStepId(name, use))) use++
    const stepId = positionalStepId(name, use)
    this.#taken.add(stepId)
    this.#uses.set(name, use + 1)
    return { name, use, hashedId: hashed(stepId) }
  }
}

function kindOf(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  return typeof value === 'object' ? 'an object' : String(value)
}

/** Returns the id behind a hash if any pass of this process has called a step with that id: hashes are equal in all runs. */
export function stepIdOf(hashedId: string): string | undefined {
  for (const [stepId, hash] of hashes) if (hash === hashedId) return stepId
  return undefined
}

/** Hashes by step id, a cache of up to `HASHES_MAX` entries: every pass needs the hashes of all earlier steps again. */
const hashes = new Map<string, string>()
const HASHES_MAX = 10_000

function hashed(stepId: string): string {
  let hash = hashes.get(stepId)
  if (hash === undefined) {
    if (hashes.size >= HASHES_MAX) hashes.clear()
    hash = hashStepId(stepId)
    hashes.set(stepId, hash)
  }
  return hash
}
