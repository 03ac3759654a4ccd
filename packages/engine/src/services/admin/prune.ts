// Removes rows whose retention is over (domain/run/retention.ts): once a minute, a batch at a time with pauses, so that the
// writer is never away from runs for long. Several engines may prune one store: each batch takes the rows that are left.

import { type Aged, agedRows, type PrunedRows, type Retentions } from '../../domain/run/retention.ts'
import type { Store } from '../../ports/store.ts'
import type { Core } from '../commit/core.ts'
import { pause } from '../support/pause.ts'
import { RepeatingTask } from '../support/repeating-task.ts'

/** Time from the end of one pruning to the next. */
const PRUNE_EVERY_MS = 60_000
/** Rows of a kind in one transaction. It takes some milliseconds of the writer's time, and commits wait for it. */
const PRUNE_BATCH_MAX = 200
/** The same for runs and deliveries, whose removal also removes rows of other tables. */
const PRUNE_BATCH_MAX_WITH_OTHERS = 50
/**
 * Pause between two batches: nine times as long as the last one took, so that pruning takes a tenth of the writer. A slow batch
 * has mostly waited for a busy writer, so beyond the limit the pause is four times as long, and a minute at most.
 */
const PRUNE_PAUSE = { minMs: 20, ratio: 9, limitMs: 100, ratioBeyond: 4 }

/** Without a retention, only rows with an expiry of their own are removed. */
export interface PrunerDeps extends Pick<Core, 'clock' | 'log'>, Retentions {
  store: Pick<Store, 'prune'>
}

export class Pruner extends RepeatingTask {
  readonly #deps: PrunerDeps

  constructor(deps: PrunerDeps) {
    const { clock, log } = deps
    super({
      clock,
      everyMs: PRUNE_EVERY_MS,
      run: () => this.#prune(),
      // The next run removes the rows that this one could not.
      onFailure: err => log.error({ err }, 'expired rows could not be removed'),
    })
    this.#deps = deps
  }

  /** Removes all rows whose retention is over, unless it is stopped meanwhile. */
  async #prune(): Promise<void> {
    const { clock, log } = this.#deps
    const removed: Partial<Record<PrunedRows, number>> = {}
    for (const aged of agedRows(this.#deps, clock.now())) {
      const count = await this.#pruneKind(aged)
      if (count > 0) removed[aged.rows] = count
    }
    if (Object.keys(removed).length > 0) log.info({ removed }, 'expired rows were removed')
  }

  async #pruneKind({ rows, before }: Aged): Promise<number> {
    const { store, clock } = this.#deps
    const limit = rows.startsWith('runs.') || rows === 'deliveries' ? PRUNE_BATCH_MAX_WITH_OTHERS : PRUNE_BATCH_MAX
    let count = 0
    while (!this.stopped.aborted) {
      const begunAt = clock.elapsed()
      const removed = await store.prune({ rows, before, limit })
      if (removed === 0) break
      count += removed
      await pause(clock, pauseAfter(clock.elapsed() - begunAt), this.stopped)
    }
    return count
  }
}

function pauseAfter(tookMs: number): number {
  const { minMs, ratio, limitMs, ratioBeyond } = PRUNE_PAUSE
  return Math.min(PRUNE_EVERY_MS, Math.max(minMs, Math.min(limitMs, ratio * tookMs), ratioBeyond * tookMs))
}
