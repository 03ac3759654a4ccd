// The `timeout` of one attempt of a step. Called by run-step.ts.

import type { Duration } from '@perdure/client'
import type { Cancellation } from '../run/cancellation.ts'
import { deferred } from '../run/deferred.ts'
import { durationMs } from '../run/step-arguments.ts'
import { StepTimeoutError } from '../wire/errors.ts'

/** The longest delay of a timer. No pass takes as long. */
const TIMER_MS_MAX = 2 ** 31 - 1

/** Aborts its signal and rejects when the attempt takes too long, or when the pass is cancelled. */
export class StepTimeout {
  readonly #controller = new AbortController()
  readonly #cancellation: Cancellation
  readonly #timer: NodeJS.Timeout
  readonly #over = deferred<never>()
  #signal: AbortSignal | undefined

  constructor(stepName: string, timeout: Duration, cancellation: Cancellation) {
    this.#cancellation = cancellation
    const ms = Math.min(TIMER_MS_MAX, durationMs(stepName, timeout))
    this.#timer = setTimeout(() => {
      const error = new StepTimeoutError(stepName, timeout)
      this.#controller.abort(error)
      this.#over.reject(error)
    }, ms)
  }

  get signal(): AbortSignal {
    this.#signal ??= AbortSignal.any([this.#controller.signal, this.#cancellation.signal])
    return this.#signal
  }

  /** Settles like `running`, or rejects when the time is over. Later results of `running` are ignored. */
  bound(running: unknown): Promise<unknown> {
    return Promise.race([running, this.#over.promise])
  }

  clear(): void {
    clearTimeout(this.#timer)
  }
}
