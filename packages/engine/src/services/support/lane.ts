// The lane loop: claims due work as far as there is room and hands it out, then sleeps until the bell rings or the
// next row falls due. One instance per lane; it is the only place that claims.

import type { Logger } from 'pino'
import type { Clock } from '../../ports/clock.ts'
import type { Queue } from '../../ports/queue.ts'
import type { Claim, Lane, Store } from '../../ports/store.ts'
import type { EngineCapacity } from './engine-capacity.ts'

/** Even without a bell the store is looked at this often: the net below it. */
const LOOK_EVERY_MS = 30_000
/**
 * Where other engines take leases, which ring no bell here: sooner than any lease (15 s) runs out, so that it is seen before
 * and its end is waited for.
 */
const LOOK_EVERY_MS_SHARED = 10_000
const CLAIM_MAX = 256
/** After an error the loop rests before it tries again. */
const REST_MS = 1000

export interface LaneDeps<T> {
  lane: Lane
  store: Store
  queue: Queue
  clock: Clock
  log: Logger
  owner: string
  leaseMs: number
  slots: EngineCapacity
  /** Whether other engines work on the store too. */
  isShared: boolean
  claim(claim: Claim): Promise<T[]>
  /**
   * Claims may leave due rows behind: deliveries whose destination is full. Then only a bell, or what falls due
   * later, brings another look.
   */
  holdsBack?: true
  /** Starts the claimed work; its slot is taken already, and is freed by the work. */
  take(claimed: T): void
}

export class LaneLoop<T> {
  readonly #deps: LaneDeps<T>
  readonly #stop = new AbortController()
  #loop: Promise<void> | undefined
  #waits = false

  constructor(deps: LaneDeps<T>) {
    this.#deps = deps
  }

  /** Whether it has claimed all it may, and waits for a bell or for what falls due. */
  get waits(): boolean {
    return this.#waits
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
    const { log, lane } = this.#deps
    const { signal } = this.#stop
    while (!signal.aborted) {
      try {
        await this.#turn(signal)
      } catch (error) {
        log.error({ err: error, lane }, 'the lane could not claim; it tries again')
        await this.#rest(signal)
      }
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    const { slots, store, queue, clock, lane, holdsBack, isShared } = this.#deps
    await slots.hasRoom(signal)
    if (signal.aborted) return
    const { more, lookedAt } = await this.#claim()
    if (more) return
    const now = clock.now()
    const next = await store.nextAvailableAt(lane, holdsBack ? lookedAt : undefined)
    if (next !== undefined && next <= now) return
    this.#waits = true
    const lookAt = now + (isShared ? LOOK_EVERY_MS_SHARED : LOOK_EVERY_MS)
    await queue.wait(lane, Math.min(next ?? Infinity, lookAt), signal)
    this.#waits = false
  }

  /** Claims up to the room there is of what is due at `lookedAt`. `more`: there may be more to claim at once. */
  async #claim(): Promise<{ more: boolean; lookedAt: number }> {
    const { slots, clock, owner, leaseMs, claim, take, holdsBack } = this.#deps
    const lookedAt = clock.now()
    const limit = Math.min(slots.room, CLAIM_MAX)
    for (let i = 0; i < limit; i++) slots.take()
    let taken = 0
    try {
      for (const claimed of await claim({ owner, now: lookedAt, leaseUntil: lookedAt + leaseMs, limit })) {
        taken++
        take(claimed)
      }
    } finally {
      for (let i = taken; i < limit; i++) slots.free()
    }
    // Without a look at what is left behind only a claim that comes back empty says that it took all it may.
    return { more: taken === limit || (holdsBack === true && taken > 0), lookedAt }
  }

  #rest(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    return new Promise(resolve => {
      const done = () => {
        cancel()
        signal.removeEventListener('abort', done)
        resolve()
      }
      const cancel = clock.at(clock.now() + REST_MS, done)
      signal.addEventListener('abort', done)
    })
  }
}
