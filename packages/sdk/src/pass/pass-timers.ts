// The timers of a pass: its deadline (`timeouts.invoke` of its workflow, or the engine's setting), and the notices about
// callbacks that run for long. They start when the pass outlives a turn of the event loop, because most passes need none.

import { durationText } from '@perdure/protocol'
import type { Discoveries } from './discoveries.ts'
import { type RunningReporter, RunningSteps } from './running-steps.ts'

/** The longest delay of a timer. */
const TIMER_MS_MAX = 2 ** 31 - 1

export interface TimersOptions {
  /** The time within which the pass must answer. Each report restarts it. */
  timeoutMs?: number | undefined
  /** Receives notices of callbacks that run for long. */
  running?: RunningReporter | undefined
}

export class PassTimers {
  readonly #options: TimersOptions
  readonly #discoveries: Discoveries
  readonly #onTimeout: (ms: number) => void
  #runningSteps: RunningSteps | undefined
  #since = performance.now()
  #deadline: ReturnType<typeof setTimeout> | undefined

  /** `onTimeout`: the pass has not answered within this many milliseconds. */
  constructor(options: TimersOptions, discoveries: Discoveries, onTimeout: (ms: number) => void) {
    this.#options = options
    this.#discoveries = discoveries
    this.#onTimeout = onTimeout
  }

  /** Starts the timers that are not running, because the pass continues. */
  watch(): void {
    const { timeoutMs, running } = this.#options
    if (timeoutMs !== undefined) this.#deadline ??= this.#wait(timeoutMs, timeoutMs)
    if (!running || this.#discoveries.running === 0) return
    this.#runningSteps ??= new RunningSteps(running, () => this.#discoveries.callbacks)
    this.#runningSteps.watch()
  }

  /** Restarts the deadline of the pass, because the engine has accepted a report. */
  restart(): void {
    this.#since = performance.now()
  }

  stop(): void {
    clearTimeout(this.#deadline)
    this.#runningSteps?.stop()
  }

  #wait(ms: number, timeoutMs: number): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.#check(timeoutMs), Math.min(TIMER_MS_MAX, ms))
  }

  #check(timeoutMs: number): void {
    const leftMs = this.#since + timeoutMs - performance.now()
    if (leftMs > 1) this.#deadline = this.#wait(leftMs, timeoutMs)
    else this.#onTimeout(timeoutMs)
  }
}

const NAMES_MAX = 5

/** A pass missed its deadline. The error names the steps whose callbacks were running, or else the step after which none was. */
export class PassTimeoutError extends Error {
  readonly code: 'step_timeout' | 'timeout'

  constructor(stepNames: readonly string[], { ms, after }: { ms: number; after: string | undefined }) {
    super(`${subjectOf(stepNames, after)} took longer than the ${durationText(ms)} of timeouts.invoke: ${REMEDY}`)
    this.code = stepNames.length === 1 ? 'step_timeout' : 'timeout'
    this.name = stepNames.length === 1 ? 'StepTimeoutError' : 'TimeoutError'
  }
}

const REMEDY =
  'give the workflow a longer timeouts.invoke (or set ENGINE_INVOKE_TIMEOUT), split the work into several steps, and stop it by `signal`'

function subjectOf(stepNames: readonly string[], after: string | undefined): string {
  const names = stepNames.slice(0, NAMES_MAX).map(name => JSON.stringify(name))
  if (names.length === 1) return `Step ${names[0]}`
  if (names.length > 1)
    return `A pass with the steps ${names.join(', ')}${stepNames.length > NAMES_MAX ? ' and more' : ''} under way`
  return `The handler, outside of its steps${after === undefined ? '' : ` and after step ${JSON.stringify(after)}`},`
}
