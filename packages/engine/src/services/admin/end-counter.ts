// Counts ended runs into the roll-ups, which statistics read (docs/decisions/0014-rollups.md): once a minute, and more often
// while many runs end, a batch at a time with pauses, so that the writer is never away from runs for long. Several engines may
// count in one store: each batch takes the ends that are left.

import type { Store } from '../../ports/store.ts'
import type { Core } from '../commit/core.ts'
import { pause } from '../support/pause.ts'
import { RepeatingTask } from '../support/repeating-task.ts'

/** Time from the end of one round to the next. */
const COUNT_EVERY_MS = 60_000
/**
 * An end is left uncounted for this long. By then it is rarely still missing from the store; a late one costs a write of the
 * run's row.
 */
const LAG_MS = 5_000
/** Ends in one transaction. */
const COUNT_BATCH_MAX = 2_000
/** Pause between two batches: four times as long as the last one took, so that counting takes at most a fifth of the writer. */
const PAUSE_MS_MIN = 20
const PAUSE_RATIO = 4
/** After a round with more ends than this, the next round follows sooner: reads look at every uncounted end. */
const BUSY_ROUND_MIN = 2 * COUNT_BATCH_MAX
const BUSY_PAUSE_MS = 5_000

export interface EndCounterDeps extends Pick<Core, 'clock' | 'log'> {
  store: Pick<Store, 'countEnds'>
}

export class EndCounter extends RepeatingTask {
  readonly #deps: EndCounterDeps

  constructor(deps: EndCounterDeps) {
    const { clock, log } = deps
    super({
      clock,
      everyMs: COUNT_EVERY_MS,
      run: () => this.#count(),
      // The next run counts the ends that this one could not.
      onFailure: err => log.error({ err }, 'ended runs could not be counted for statistics'),
    })
    this.#deps = deps
  }

  async #count(): Promise<void> {
    const { clock } = this.#deps
    while ((await this.#round()) > BUSY_ROUND_MIN) await pause(clock, BUSY_PAUSE_MS, this.stopped)
  }

  /** Counts all ends that are old enough, unless it is stopped meanwhile. Returns how many. */
  async #round(): Promise<number> {
    const { store, clock } = this.#deps
    const before = clock.now() - LAG_MS
    let counted = 0
    while (!this.stopped.aborted) {
      const begunAt = clock.elapsed()
      const batch = await store.countEnds({ before, limit: COUNT_BATCH_MAX })
      counted += batch
      if (batch < COUNT_BATCH_MAX) break
      const pauseMs = Math.max(PAUSE_MS_MIN, PAUSE_RATIO * (clock.elapsed() - begunAt))
      await pause(clock, pauseMs, this.stopped)
    }
    return counted
  }
}
