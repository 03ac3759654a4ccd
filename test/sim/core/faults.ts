// Which faults a seed meets, and how often. Each seed draws its own mix: some are calm, some meet one kind of fault
// in abundance, so that rare combinations are not drowned by the common ones.

import { Rng } from './random.ts'

/** How often each kind strikes at most: a seed draws its probability below this. */
const STRIKES_MAX = {
  /** The store: a commit fails before it is applied, loses its answer, or takes its time. */
  commitFails: 0.06,
  commitLost: 0.06,
  commitSlow: 0.5,
  /** It takes longer than a lease lasts. */
  commitStalls: 0.03,
  claimFails: 0.1,
  claimLost: 0.1,
  readFails: 0.05,
  readSlow: 0.3,
  extendFails: 0.95,
  /** The way to a runner. */
  refused: 0.15,
  brokenBefore: 0.1,
  brokenAfter: 0.1,
  serverErrorBefore: 0.1,
  serverErrorAfter: 0.1,
  rejected: 0.02,
  garbage: 0.02,
  tooLarge: 0.01,
  repeatedOpcodes: 0.3,
  partialOpcodes: 0.15,
  slowRunner: 0.2,
  /** Slower than a lease lasts, or than the engine waits. */
  stalledRunner: 0.1,
  /** The webhook's receiver. */
  sendFails: 0.5,
  /** No fault: the runner makes steps durable while its pass goes on. At times it sends that again. */
  checkpoints: 1,
  repeatedCheckpoints: 0.3,
} as const

export type FaultKind = keyof typeof STRIKES_MAX
export const FAULT_KINDS = Object.keys(STRIKES_MAX) as FaultKind[]

export class Faults {
  readonly #rates = new Map<FaultKind, number>()
  readonly #streams = new Map<FaultKind, Rng>()
  #paused = false

  /** `always`: those that strike in every seed, as often as they may. */
  constructor(seed: number, off: ReadonlySet<string>, always: readonly FaultKind[] = []) {
    const draw = new Rng(seed, 'fault mix')
    // Not quite half of the kinds on average, none at all in one seed of ten.
    const share = draw.chance(0.1) ? 0 : draw.next() * 0.9
    for (const kind of FAULT_KINDS) {
      const on = draw.chance(share)
      const rate = draw.next() * STRIKES_MAX[kind]
      if (always.includes(kind)) this.#rates.set(kind, STRIKES_MAX[kind])
      else if (on && !off.has(kind)) this.#rates.set(kind, rate)
      this.#streams.set(kind, new Rng(seed, `fault ${kind}`))
    }
  }

  /** From now on nothing fails any more. */
  pause(): void {
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
  }

  strikes(kind: FaultKind): boolean {
    const rate = this.#rates.get(kind)
    return !this.#paused && rate !== undefined && this.stream(kind).chance(rate)
  }

  /** For the details of a fault of that kind. */
  stream(kind: FaultKind): Rng {
    return this.#streams.get(kind) as Rng
  }
}
