// Notifies streams that are open on one engine of what other engines commit. Each engine announces the keys its streams
// follow, and gets messages for those alone: what no stream follows costs no message. Compose opens it where there is a bus.

import { BROADCAST_BYTES_MAX, type Bus, broadcastBatches } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Store } from '../../ports/store.ts'
import { RepeatingTask } from '../support/repeating-task.ts'
import type { Live, RunMove, Topic } from './live.ts'

/** How often an engine announces all followed keys again; the others forget those that it does not. */
const FOLLOW_EVERY_MS = 5000
const FOLLOW_EXPIRES_MS = 15_000
/** Followed keys of a topic in memory. Streams beyond that find out by reading the store from time to time. */
const FOLLOWED_KEYS_MAX = 10_000
/** Events of other engines read at once for event streams here. A stream of more than that skips some: it is best effort. */
const EVENT_READS_MAX = 1000
/** Notifications of runs are sent together, this long after the first. */
const RUNS_GATHER_MS = 5

type TopicName = 'runs' | 'moves' | 'events'

export interface LiveShareDeps {
  bus: Bus
  live: Live
  store: Pick<Store, 'in'>
  clock: Clock
}

/** Announces followed keys again and again once it is started; messages are exchanged before that too. */
export class LiveShare extends RepeatingTask {
  readonly #deps: LiveShareDeps
  /** Runs to notify other engines of. */
  readonly #changedRuns = new Set<string>()
  #reads = 0
  #cancelGather: () => void = () => {}

  constructor(deps: LiveShareDeps) {
    const { bus, live, clock } = deps
    super({ clock, everyMs: FOLLOW_EVERY_MS, run: () => this.#announceFollowed(), onFailure: () => {} })
    this.#deps = deps
    const followed = {
      runs: this.#share('runs', live.runs, runId => this.#gatherRun(runId)),
      moves: this.#share('moves', live.moves, (namespace, move) => this.#publishMove(namespace, move)),
      events: this.#share('events', live.events, (namespace, { id }) =>
        bus.publish('event', JSON.stringify([namespace, id])),
      ),
    }
    bus.on('follow', text => {
      const [name, ...keys] = JSON.parse(text) as [TopicName, ...string[]]
      followed[name]?.add(keys)
    })
    bus.on('runs', text => {
      for (const runId of text.split(' ')) live.runs.publishHere(runId, undefined)
    })
    bus.on('move', text => {
      const [namespace, move] = JSON.parse(text) as [string, RunMove]
      live.moves.publishHere(namespace, move)
    })
    bus.on('event', text => {
      const [namespace, id] = JSON.parse(text) as [string, string]
      void this.#readEvent(namespace, id)
    })
    bus.onReconnect(() => this.#announceFollowed())
  }

  override stop(deadline?: AbortSignal): Promise<void> {
    this.#cancelGather()
    return super.stop(deadline)
  }

  #share<T>(name: TopicName, topic: Topic<T>, publish: (key: string, message: T) => void): FollowedKeys {
    const followed = new FollowedKeys(this.#deps.clock)
    const listened = (key: string) => this.#deps.bus.publish('follow', JSON.stringify([name, key]))
    topic.peers = { has: key => followed.has(key), publish, listened }
    return followed
  }

  #announceFollowed(): void {
    const { bus, live } = this.#deps
    for (const name of ['runs', 'moves', 'events'] as const)
      for (const keys of broadcastBatches(live[name].keys)) bus.publish('follow', JSON.stringify([name, ...keys]))
  }

  #gatherRun(runId: string): void {
    const { clock } = this.#deps
    if (this.stopped.aborted) return
    if (this.#changedRuns.size === 0) this.#cancelGather = clock.after(RUNS_GATHER_MS, () => this.#publishRuns())
    this.#changedRuns.add(runId)
  }

  #publishRuns(): void {
    const changed = [...this.#changedRuns]
    this.#changedRuns.clear()
    for (const runIds of broadcastBatches(changed)) this.#deps.bus.publish('runs', runIds.join(' '))
  }

  #publishMove(namespace: string, move: RunMove): void {
    const text = JSON.stringify([namespace, move])
    if (Buffer.byteLength(text) <= BROADCAST_BYTES_MAX) this.#deps.bus.publish('move', text)
  }

  /** An event may be too long for a message, so each engine reads it from the store. */
  async #readEvent(namespace: string, id: string): Promise<void> {
    const { live, store } = this.#deps
    if (!live.events.has(namespace) || this.#reads >= EVENT_READS_MAX) return
    this.#reads++
    const event = await store
      .in(namespace)
      .event(id)
      .catch(() => undefined)
    this.#reads--
    if (event) live.events.publishHere(namespace, event)
  }
}

/** The keys that streams of other engines follow, until their engines stop announcing them. */
class FollowedKeys {
  readonly #clock: Clock
  readonly #until = new Map<string, number>()
  #sweptAt = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(keys: readonly string[]): void {
    const now = this.#clock.elapsed()
    // Not at every message: an engine with thousands of streams sends one for each that opens.
    if (this.#until.size > FOLLOWED_KEYS_MAX / 2 && now - this.#sweptAt >= FOLLOW_EVERY_MS) {
      this.#sweptAt = now
      for (const [key, until] of this.#until) if (until < now) this.#until.delete(key)
    }
    for (const key of keys)
      if (this.#until.size < FOLLOWED_KEYS_MAX || this.#until.has(key)) this.#until.set(key, now + FOLLOW_EXPIRES_MS)
  }

  has(key: string): boolean {
    if (this.#until.size === 0) return false
    const until = this.#until.get(key)
    if (until === undefined) return false
    if (until >= this.#clock.elapsed()) return true
    this.#until.delete(key)
    return false
  }
}
