// A task that runs again and again until it is stopped, one run at a time. Extended by the services that watch the store.

import { aborted } from 'node:util'
import type { Clock } from '../../ports/clock.ts'
import type { Service } from './service.ts'

export interface RepeatingTaskOptions {
  clock: Clock
  /** From the start to the first run, and from the end of each run to the next. */
  everyMs: number
  run(): Promise<void> | void
  /** `isRepeated`: the run before failed too. */
  onFailure(error: unknown, isRepeated: boolean): void
}

export class RepeatingTask implements Service {
  readonly #options: RepeatingTaskOptions
  #isStarted = false
  #isStopped = false
  #isFailing = false
  #running: Promise<void> | undefined
  #cancelTimer: () => void = () => {}

  constructor(options: RepeatingTaskOptions) {
    this.#options = options
  }

  protected get isStopped(): boolean {
    return this.#isStopped
  }

  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#schedule()
  }

  /** Resolves when no run is under way, or at the deadline: a run may wait for a store that never answers. */
  async stop(deadline?: AbortSignal): Promise<void> {
    this.#isStopped = true
    this.#cancelTimer()
    await (deadline ? Promise.race([this.#running, aborted(deadline, this)]) : this.#running)
  }

  /** Reports a failure outside a run as one of the same series; does nothing once the task is stopped. */
  protected failed(error: unknown): void {
    if (this.#isStopped) return
    const isRepeated = this.#isFailing
    this.#isFailing = true
    this.#options.onFailure(error, isRepeated)
  }

  #schedule(): void {
    const { clock, everyMs } = this.#options
    if (this.#isStopped) return
    this.#cancelTimer = clock.at(clock.now() + everyMs, () => {
      this.#running = this.#run()
    })
  }

  async #run(): Promise<void> {
    try {
      await this.#options.run()
      this.#isFailing = false
    } catch (error) {
      this.failed(error)
    }
    this.#schedule()
  }
}
