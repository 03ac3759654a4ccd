// Counts the work of one evaluation (docs/events.md#expressions) and ends it with an error when there is too much. Work is
// counted rather than timed, so the same input always gives the same result. Every cost is charged before the work is done.

/**
 * Maximum work of one evaluation. A cost of 1 stands for at most ten nanoseconds on an ordinary machine, so the longest
 * evaluation blocks the event loop for about ten milliseconds.
 */
export const WORK_MAX = 1_000_000

/** A single instance: an evaluation may throw it in every turn of a loop, and a stack trace takes longer than the turn. */
const EXHAUSTED = new Error('the expression does too much work on this event')

export class Meter {
  #left = WORK_MAX

  /** Charges the work that follows. Throws when the evaluation has none left. */
  charge(cost: number): void {
    this.#left -= cost
    if (this.#left < 0) throw EXHAUSTED
  }

  /** The work so far; more than `WORK_MAX` when the evaluation was ended. */
  get spent(): number {
    return WORK_MAX - this.#left
  }
}

let current = new Meter()
let done = 0

/** The work of all evaluations so far; from this, decisions know when to yield to the event loop (evaluations.ts). */
export function workDone(): number {
  return done
}

/** Counts work that no evaluation is charged for: compiling expressions, and parsing their events. */
export function addWork(cost: number): void {
  done += cost
}

/** Runs an evaluation whose functions charge `meter`. */
export function metered<T>(meter: Meter, evaluate: () => T): T {
  const outer = current
  const { stackTraceLimit } = Error
  current = meter
  // Otherwise an error in each turn of a loop would cost five times as much, for a stack trace that nobody sees.
  Error.stackTraceLimit = 0
  try {
    return evaluate()
  } finally {
    current = outer
    done += Math.min(meter.spent, WORK_MAX)
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** Charges the evaluation that is under way. */
export function charge(cost: number): void {
  current.charge(cost)
}

/** The meter of the evaluation that is under way. */
export function meterUnderWay(): Meter {
  return current
}
