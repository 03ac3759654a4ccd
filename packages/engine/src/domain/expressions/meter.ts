// Counts the work of one evaluation (docs/events.md#expressions) and ends it with an error when there is too much. Work is
// counted rather than timed, so the same input always gives the same result. Every cost is charged before the work is done.

/**
 * Most work of one evaluation. A cost of 1 stands for ten nanoseconds of an ordinary machine at the worst, so the longest
 * evaluation holds the event loop for about ten milliseconds.
 */
export const WORK_MAX = 1_000_000

/** One instance for all: an evaluation may meet it in every turn of a loop, and a stack trace takes longer than the turn. */
const EXHAUSTED = new Error('the expression does too much work on this event')

export class Meter {
  #left = WORK_MAX

  /** Charges the work that comes next. Throws when the evaluation has none left. */
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

/** The work of all evaluations so far, by which decisions let the event loop go on (evaluations.ts). */
export function workDone(): number {
  return done
}

/** Counts work that no evaluation is charged for: compiling it, and parsing what it reads. */
export function addWork(cost: number): void {
  done += cost
}

/** Runs an evaluation, whose functions charge `meter`. */
export function metered<T>(meter: Meter, evaluate: () => T): T {
  const outer = current
  const { stackTraceLimit } = Error
  current = meter
  // An error in each turn of a loop costs five times as much with a stack trace, which nobody sees.
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
