// The `timeout` of one attempt of a step. Called by run-step.ts.

import type { Duration } from '@perdure/client'
import type { Cancellation } from '../run/cancellation.ts'
import { durationMs } from '../run/duration-ms.ts'
import { StepTimeoutError } from '../wire/errors.ts'

/** The longest delay of a timer. No pass takes as long. */
const TIMER_MS_MAX = 2 ** 31 - 1

/** Aborts its signal and rejects when the attempt takes too long, or when the pass is cancelled. */
export class StepTimeout {
  readonly #controller = new AbortController()
  readonly #cancellation: Cancellation
  readonly #timer: NodeJS.Timeout
  readonly #over: Promise<never>
  #signal: AbortSignal | undefined

  constructor(stepName: string, timeout: Duration, cancellation: Cancellation) {
    this.#cancellation = cancellation
    const ms = Math.min(TIMER_MS_MAX, durationMs(stepName, timeout))
    let reject: (error: Error) => void = () => undefined
    this.#over = new Promise<never>((_, onError) => {
      reject = onError
    })
    this.#over.catch(() => undefined)
    this.#timer = setTimeout(() => {
      const error = new StepTimeoutError(stepName, timeout)
      this.#controller.abort(error)
      reject(error)
    }, ms)
  }

  get signal(): AbortSignal {
    this.#signal ??= AbortSignal.any([this.#controller.signal, this.#cancellation.signal])
    return this.#signal
  }

  /** Settles like `running`, or rejects when the time is over. Later results of `running` are ignored. */
  bound(running: unknown): Promise<unknown> {
    return Promise.race([running, this.#over])
  }

  clear(): void {
    clearTimeout(this.#timer)
  }
}
