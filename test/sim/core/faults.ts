// Which faults a seed has, and how often. Each seed draws its own mix: some seeds are calm, others have many faults of one kind,
// so that common faults do not hide rare combinations.

import { Rng } from './random.ts'

/** The upper bound of each fault's probability. A seed draws a value below it. */
const STRIKES_MAX = {
  /** Faults of the store: a commit fails before it is applied, loses its answer, or is slow. */
  commitFails: 0.06,
  commitLost: 0.06,
  commitSlow: 0.5,
  /** The commit takes longer than a lease. */
  commitStalls: 0.03,
  claimFails: 0.1,
  claimLost: 0.1,
  readFails: 0.05,
  readSlow: 0.3,
  extendFails: 0.95,
  /** Faults between engine and runner. */
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
  /** Slower than a lease, or slower than the engine waits. */
  stalledRunner: 0.1,
  /** Faults of the webhooks' receiver. */
  sendFails: 0.5,
  /** Not a fault: the runner sends checkpoints during its pass, some of them twice. */
  checkpoints: 1,
  repeatedCheckpoints: 0.3,
  /** The machine's wall clock is set before an action of the script. */
  clockSet: 0.3,
  /** Not a fault: the runner sends the last steps of a run with its end. */
  endsWithSteps: 1,
  /** Not a fault: the runner reports its steps over HTTP during its pass. */
  httpCheckpoints: 1,
  /** Faults of such reports: the report or its answer is lost, is slow, arrives twice, or arrives at another engine. */
  reportLost: 0.15,
  reportSlow: 0.3,
  reportRepeated: 0.4,
  reportElsewhere: 0.4,
  /** Not faults: two reports are under way at once, or the pass is answered before its report. */
  reportsTogether: 0.5,
  answerFirst: 0.2,
} as const

export type FaultKind = keyof typeof STRIKES_MAX
export const FAULT_KINDS = Object.keys(STRIKES_MAX) as FaultKind[]

export class Faults {
  readonly #rates = new Map<FaultKind, number>()
  readonly #streams = new Map<FaultKind, Rng>()
  #paused = false

  /** `always`: faults that strike in every seed, at their upper bound. */
  constructor(seed: number, off: ReadonlySet<string>, always: readonly FaultKind[] = []) {
    const draw = new Rng(seed, 'fault mix')
    // On average fewer than half of the kinds are on. In one seed of ten, none is.
    const share = draw.chance(0.1) ? 0 : draw.next() * 0.9
    for (const kind of FAULT_KINDS) {
      const on = draw.chance(share)
      const rate = draw.next() * STRIKES_MAX[kind]
      if (always.includes(kind)) this.#rates.set(kind, STRIKES_MAX[kind])
      else if (on && !off.has(kind)) this.#rates.set(kind, rate)
      this.#streams.set(kind, new Rng(seed, `fault ${kind}`))
    }
    // Only one engine may use a store whose times it moves, and its calls are written in order.
    if (this.isOn('clockSet')) this.#rates.delete('commitStalls')
  }

  /** Whether the fault may strike in this seed. */
  isOn(kind: FaultKind): boolean {
    return this.#rates.has(kind)
  }

  /** Stops all faults from now on. */
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

  /** Random numbers for the details of a fault of that kind. */
  stream(kind: FaultKind): Rng {
    return this.#streams.get(kind) as Rng
  }
}
