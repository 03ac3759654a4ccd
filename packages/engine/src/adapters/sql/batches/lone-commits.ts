// Writes commits that stand alone in the calling thread, over its own connection, and everything else in the writer's thread. For
// a lone commit, the way to the other thread and back costs more than SQLite and a quick disk together. Under load, batches that
// gather in the meantime are worth more (bench/laboratory.md). The batch queue sends one batch at a time, so the two connections
// never write at once.

import type { Channel, Server } from './channel.ts'
import { type BatchAnswer, isFailure, isUnit, type Request, weightOf } from './requests.ts'

/** A commit stands alone if none was under way for this long before it. */
const APART_MS_MIN = 0.2
/** Number of consecutive lone commits by the thread after which the next ones are written here. */
const LONE_IN_A_ROW = 8
/** A commit that takes longer than this ends the series: the calling thread must not wait for a slow disk. */
const QUICK_MS_MAX = 2
/**
 * Most consecutive commits written here. The thread's commits in between write the log back to the database, which takes long.
 */
const HERE_MAX = 128
/** A larger unit goes to the thread. */
const WEIGHT_MAX = 64 * 1024

export interface LoneCommitsOptions {
  /** The writer's own thread, which takes every other commit. */
  thread: Channel & { close(isBroken?: boolean): Promise<void> }
  /** Opens a writer in the calling thread, which never writes the log back. Called at the first lone commits. */
  open(): Promise<Server>
  /** Monotonic time in ms. */
  elapsed?: () => number
}

export class LoneCommits implements Channel {
  readonly #options: LoneCommitsOptions
  readonly #elapsed: () => number
  #here: Server | undefined
  #opening: Promise<void> | undefined
  #endedAt = Number.NEGATIVE_INFINITY
  /** Consecutive quick lone commits of the thread, and the commits that may follow here. */
  #row = 0
  #left = 0
  #isBroken = false
  #isClosed = false

  constructor(options: LoneCommitsOptions) {
    this.#options = options
    this.#elapsed = options.elapsed ?? (() => performance.now())
  }

  async run(batch: Request[]): Promise<BatchAnswer> {
    const begunAt = this.#elapsed()
    const isLone = isSmallUnit(batch) && begunAt - this.#endedAt >= APART_MS_MIN
    const answer = (isLone && this.#runHere(batch, begunAt)) || (await this.#runThere(batch, { begunAt, isLone }))
    this.#endedAt = this.#elapsed()
    return answer
  }

  /** Closes the connection here first: the thread's last checkpoint then has the file to itself. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#opening
    this.#here?.close()
    await this.#options.thread.close(this.#isBroken)
  }

  /** Returns undefined if the thread is to write the batch: then nothing of it has been written. */
  #runHere(batch: Request[], begunAt: number): BatchAnswer | undefined {
    if (!this.#here || this.#left === 0) return undefined
    const answer = this.#here.run(batch)
    this.#left = this.#elapsed() - begunAt <= QUICK_MS_MAX ? this.#left - 1 : 0
    if (answer.broken !== undefined) this.#isBroken = true
    // Another program has the database locked, for example: the thread can wait for it.
    else if (isFailure(answer.answers[0])) return undefined
    return answer
  }

  async #runThere(batch: Request[], { begunAt, isLone }: { begunAt: number; isLone: boolean }): Promise<BatchAnswer> {
    this.#left = 0
    const answer = await this.#options.thread.run(batch)
    this.#row = isLone && this.#elapsed() - begunAt <= QUICK_MS_MAX ? this.#row + 1 : 0
    if (this.#row < LONE_IN_A_ROW) return answer
    this.#row = 0
    this.#left = HERE_MAX
    this.#opening ??= this.#open()
    return answer
  }

  async #open(): Promise<void> {
    try {
      const here = await this.#options.open()
      if (this.#isClosed) here.close()
      else this.#here = here
    } catch {
      // The thread writes everything.
    }
  }
}

function isSmallUnit([request, ...others]: readonly Request[]): boolean {
  return others.length === 0 && request !== undefined && isUnit(request) && weightOf(request) <= WEIGHT_MAX
}
