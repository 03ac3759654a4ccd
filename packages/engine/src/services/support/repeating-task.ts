// A task that runs repeatedly until it is stopped, one run at a time. Extended by the services that watch the store.

import type { Clock } from '../../ports/clock.ts'
import { pause } from './pause.ts'
import type { Service } from './service.ts'
import { untilDeadline } from './until-deadline.ts'

export interface RepeatingTaskOptions {
  clock: Clock
  /** Time from the start to the first run, and from the end of each run to the next. */
  everyMs: number
  run(): Promise<void> | void
  /** Whether the first run happens at the start. */
  runsAtStart?: boolean
  /** Called for the first failure of a series. */
  onFailure(error: unknown): void
}

export class RepeatingTask implements Service {
  readonly #options: RepeatingTaskOptions
  readonly #stop = new AbortController()
  #loop: Promise<void> | undefined
  #isFailing = false

  constructor(options: RepeatingTaskOptions) {
    this.#options = options
  }

  /** Aborts when the task is stopped. */
  protected get stopped(): AbortSignal {
    return this.#stop.signal
  }

  start(): void {
    this.#loop ??= this.#repeat()
  }

  /** Resolves when no run is under way, or at the deadline: a run may wait for a store that never answers. */
  async stop(deadline?: AbortSignal): Promise<void> {
    this.#stop.abort()
    await untilDeadline(this.#loop, deadline)
  }

  /** Counts a failure outside a run as part of the same series; does nothing once the task is stopped. */
  protected failed(error: unknown): void {
    if (!this.#isFailing && !this.stopped.aborted) this.#options.onFailure(error)
    this.#isFailing = true
  }

  async #repeat(): Promise<void> {
    const { clock, everyMs, run, runsAtStart = false } = this.#options
    for (let isFirst = true; ; isFirst = false) {
      if (!(isFirst && runsAtStart)) await pause(clock, everyMs, this.stopped)
      if (this.stopped.aborted) return
      try {
        await run()
        this.#isFailing = false
      } catch (error) {
        this.failed(error)
      }
    }
  }
}
