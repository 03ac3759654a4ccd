// The lane loop: claims as much due work as there is room for, then sleeps until a wake-up comes or the next row falls due.
// Compose makes one for each lane; nothing else claims.

import type { Logger } from 'pino'
import type { Clock } from '../../ports/clock.ts'
import type { Queue } from '../../ports/queue.ts'
import type { Claim, Lane, Store } from '../../ports/store.ts'
import { pause } from './pause.ts'
import type { Service } from './service.ts'

/** Maximum sleep without a wake-up, because wake-ups may be lost. */
const LANE_SLEEP_MS_MAX = 30_000
/**
 * The same where other engines take leases without a wake-up here. Shorter than any lease (15 s), so that this engine sees the
 * lease before it runs out and sleeps no longer than until its end.
 */
const LANE_SLEEP_MS_MAX_SHARED = 10_000
const LANE_CLAIM_MAX = 256
/** Pause after a failed claim. */
const LANE_RETRY_MS = 1000

export interface LaneDeps<T> {
  lane: Lane
  store: Store
  queue: Queue
  clock: Clock
  log: Logger
  /** Name of this engine in the leases it takes. */
  owner: string
  leaseMs: number
  work: {
    readonly permits: LanePermits
    /** Starts claimed work, which takes room until it ends. `claimedAt`: before the claim, by the monotonic clock. */
    accept(claimed: T, claimedAt: number): void
  }
  /** Whether other engines work on the store too. */
  isShared: boolean
  claim(claim: Claim): Promise<T[]>
  /**
   * Whether the last claim may have left due rows for lack of room. If so, only a wake-up, or a row that falls due later,
   * causes another claim.
   */
  mayLeaveDueRows?(): boolean
}

/** The permits for work of a kind (permits.ts). */
export interface LanePermits {
  /** How much more may be claimed. */
  readonly room: number
  /** Resolves when there is room, or on abort. */
  waitForRoom(signal: AbortSignal): Promise<void>
}

export class LaneLoop<T> implements Service {
  readonly #deps: LaneDeps<T>
  readonly #stop = new AbortController()
  #loop: Promise<void> | undefined
  #isWaiting = false

  constructor(deps: LaneDeps<T>) {
    this.#deps = deps
  }

  /** Whether the loop has claimed as much as it may, and waits for a wake-up or for the next row to fall due. */
  get isWaiting(): boolean {
    return this.#isWaiting
  }

  start(): void {
    this.#loop ??= this.#run()
  }

  /** Resolves when the loop claims no more. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#loop
  }

  async #run(): Promise<void> {
    const { log, lane, clock } = this.#deps
    const { signal } = this.#stop
    while (!signal.aborted) {
      try {
        await this.#claimAndWait(signal)
      } catch (error) {
        log.error({ err: error, lane }, 'the lane could not claim; it tries again')
        await pause(clock, LANE_RETRY_MS, signal)
      }
    }
  }

  async #claimAndWait(signal: AbortSignal): Promise<void> {
    const { work, store, queue, clock, lane, isShared } = this.#deps
    await work.permits.waitForRoom(signal)
    if (signal.aborted) return
    const { hasMore, leavesDueRows, claimedAt } = await this.#claim()
    if (hasMore) return
    const now = clock.now()
    const next = await store.nextAvailableAt(lane, leavesDueRows ? claimedAt : undefined)
    if (next !== undefined && next <= now) return
    this.#isWaiting = true
    const latest = now + (isShared ? LANE_SLEEP_MS_MAX_SHARED : LANE_SLEEP_MS_MAX)
    await queue.wait(lane, Math.min(next ?? Infinity, latest), signal)
    this.#isWaiting = false
  }

  /** Claims rows that are due at `claimedAt`, as many as there is room for. `hasMore`: another claim may find more at once. */
  async #claim(): Promise<{ hasMore: boolean; leavesDueRows: boolean; claimedAt: number }> {
    const { work, clock, owner, leaseMs, claim, mayLeaveDueRows } = this.#deps
    const claimedAt = clock.now()
    const leasedAt = clock.elapsed()
    const limit = Math.min(work.permits.room, LANE_CLAIM_MAX)
    const all = await claim({ owner, now: claimedAt, leaseUntil: claimedAt + leaseMs, limit })
    for (const claimed of all) work.accept(claimed, leasedAt)
    const leavesDueRows = mayLeaveDueRows?.() ?? false
    // Where due rows may stay behind, only an empty claim shows that it took all it may.
    return { hasMore: all.length === limit || (leavesDueRows && all.length > 0), leavesDueRows, claimedAt }
  }
}
