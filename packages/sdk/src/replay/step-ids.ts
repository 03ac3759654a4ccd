// Ids of the steps of one pass: the name, with a position from its second use on, hashed (contract §2.11).

import { hashStepId, positionalStepId } from '@perdure/protocol'
import { NonRetriableError } from '../errors.ts'
import { STEP_NAME_CHARS_MAX } from '../limits.ts'

export interface StepId {
  readonly name: string
  /** How many times the name was used before in this run. */
  readonly use: number
  readonly hashedId: string
}

/** The ids one pass has given out. The same calls in the same order give the same ids on every pass. */
export class StepIds {
  readonly #uses = new Map<string, number>()
  readonly #taken = new Set<string>()

  get count(): number {
    return this.#taken.size
  }

  next(name: string): StepId {
    if (typeof name !== 'string' || name === '' || name.length > STEP_NAME_CHARS_MAX) {
      throw new NonRetriableError(`A step name must be a string of 1 to ${STEP_NAME_CHARS_MAX} characters`)
    }
    let use = this.#uses.get(name) ?? 0
    // A name that itself ends in ":1" may hold the id a repetition would get: then the next position is used.
    while (this.#taken.has(positionalStepId(name, use))) use++
    const stepId = positionalStepId(name, use)
    this.#taken.add(stepId)
    this.#uses.set(name, use + 1)
    return { name, use, hashedId: hashed(stepId) }
  }
}

/** The id behind a hash, if a pass of this process has asked for a step of that id: of whatever run, the hash is the same. */
export function stepIdOf(hashedId: string): string | undefined {
  for (const [stepId, hash] of hashes) if (hash === hashedId) return stepId
  return undefined
}

/** Every pass hashes the ids of all earlier steps again, so hashes are kept, up to a bound. */
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
