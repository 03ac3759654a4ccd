// Removes what has had its time (domain/run/retention.ts): looks once a minute, and then removes a batch at a time with pauses,
// so that the writer is never long away from runs. Several engines may do so on one store: a batch takes what is left.

import type { Logger } from 'pino'
import { type Aged, agedRows, type PrunedRows, type Retention } from '../../domain/run/retention.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Store } from '../../ports/store.ts'

/** From the end of one look to the next. */
const LOOK_EVERY_MS = 60_000
/** Rows of a kind in one transaction: some milliseconds of the writer's time. */
const BATCH_MAX = 200
/** Between two batches: four times as long as the last one took, so that a fifth of the writer is the most it gets. */
const PAUSE_MS_MIN = 20
const PAUSE_RATIO = 4

export interface PrunerDeps {
  store: Pick<Store, 'prune'>
  clock: Clock
  log: Logger
  /** Absent: only claims whose window is over go. */
  retention: Retention | undefined
}

export class Pruner {
  readonly #deps: PrunerDeps
  #stopped = false
  #stopTimer: () => void = () => {}
  /** Ends the wait that is under way. */
  #wake: () => void = () => {}
  #running: Promise<void> | undefined
  #failing = false

  constructor(deps: PrunerDeps) {
    this.#deps = deps
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** Resolves when no batch is under way. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#stopTimer()
    this.#wake()
    await this.#running
  }

  /** Removes all that has had its time by now, unless it is stopped on the way. */
  async look(): Promise<void> {
    const { clock, retention, log } = this.#deps
    const removed: Partial<Record<PrunedRows, number>> = {}
    for (const aged of agedRows(retention, clock.now())) {
      const count = await this.#all(aged)
      if (count > 0) removed[aged.rows] = count
    }
    if (Object.keys(removed).length > 0) log.info({ removed }, 'rows that had their time are gone')
  }

  async #run(): Promise<void> {
    for (;;) {
      await this.#wait(LOOK_EVERY_MS)
      if (this.#stopped) return
      try {
        await this.look()
        this.#failing = false
      } catch (error) {
        this.#failed(error)
      }
    }
  }

  async #all({ rows, before }: Aged): Promise<number> {
    const { store, clock } = this.#deps
    let count = 0
    while (!this.#stopped) {
      const begunAt = clock.now()
      const removed = await store.prune({ rows, before, limit: BATCH_MAX })
      if (removed === 0) break
      count += removed
      await this.#wait(Math.max(PAUSE_MS_MIN, PAUSE_RATIO * (clock.now() - begunAt)))
    }
    return count
  }

  async #wait(ms: number): Promise<void> {
    if (this.#stopped) return
    const { clock } = this.#deps
    await new Promise<void>(resolve => {
      this.#wake = resolve
      this.#stopTimer = clock.at(clock.now() + ms, resolve)
    })
  }

  /** One line for a series of failures: what was not removed now is removed at a later look. */
  #failed(error: unknown): void {
    if (this.#failing || this.#stopped) return
    this.#failing = true
    this.#deps.log.error({ err: error }, 'what has had its time could not be removed')
  }
}
