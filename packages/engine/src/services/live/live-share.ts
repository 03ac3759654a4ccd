// Notifies open streams on one engine of the commits of other engines. Each engine announces the keys that its streams follow,
// and gets messages only for those: a key without a stream costs no message. Compose opens it where there is a bus.

import type { RunUpdate } from '../../domain/view/run-updates.ts'
import type { DerivedFrame } from '../../domain/view/timeline-frames.ts'
import { BROADCAST_BYTES_MAX, type Bus, broadcastBatches } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Store } from '../../ports/store.ts'
import type { Reads } from '../../ports/store-reads.ts'
import { RepeatingTask } from '../support/repeating-task.ts'
import { Gathered } from './gathered.ts'
import type { Live, RunMove, Topic } from './live.ts'

/** How often an engine announces all followed keys again; the others forget keys that are not announced again. */
const FOLLOW_EVERY_MS = 5000
const FOLLOW_EXPIRES_MS = 15_000
/** Maximum followed keys of a topic in memory. Streams beyond that read the store from time to time instead. */
const FOLLOWED_KEYS_MAX = 10_000
/** Maximum items of other engines that are read at once for streams here. Beyond that a stream skips some: it is best effort. */
const READS_MAX = 1000
/** Notifications of runs are sent together, this long after the first. */
const RUNS_GATHER_MS = 5

/** Notifications of output streams are sent together, this long after the first. It is short, since readers wait for each one. */
const STREAMS_GATHER_MS = 3

/**
 * Updates of runs are sent together, the last one of each run, this long after the first. The same holds for the names of runs
 * and bulk jobs.
 */
const UPDATES_GATHER_MS = 50

const TOPICS = ['runs', 'running', 'moves', 'events', 'updates', 'deliveries', 'progress', 'bulks', 'streams'] as const
type TopicName = (typeof TOPICS)[number]

export interface LiveShareDeps {
  bus: Bus
  live: Live
  store: Pick<Store, 'in'>
  clock: Clock
}

/** Announces followed keys repeatedly once it is started; it exchanges messages even before that. */
export class LiveShare extends RepeatingTask {
  readonly #deps: LiveShareDeps
  readonly #gathered: Gathered<string>[] = []
  #reads = 0

  constructor(deps: LiveShareDeps) {
    const { bus, live, clock } = deps
    super({ clock, everyMs: FOLLOW_EVERY_MS, run: () => this.#announceFollowed(), onFailure: () => {} })
    this.#deps = deps
    const runs = this.#gather(RUNS_GATHER_MS, runIds => this.#publishRuns(runIds))
    const updates = this.#gather(UPDATES_GATHER_MS, texts => this.#publishBatches('updates', texts))
    const progress = this.#gather(UPDATES_GATHER_MS, names => this.#publishBatches('progress', names))
    const bulks = this.#gather(UPDATES_GATHER_MS, ids => this.#publishBatches('bulks', ids))
    const streams = this.#gather(STREAMS_GATHER_MS, keys => this.#publishBatches('streams', keys))
    const followed: Record<TopicName, FollowedKeys> = {
      runs: this.#share('runs', live.runs, runId => runs.set(runId, runId)),
      running: this.#share('running', live.running, (runId, frame) => this.#publishShort('running', [runId, frame])),
      moves: this.#share('moves', live.moves, (namespace, move) => this.#publishShort('move', [namespace, move])),
      events: this.#share('events', live.events, (namespace, { id }) =>
        bus.publish('event', JSON.stringify([namespace, id])),
      ),
      updates: this.#share('updates', live.updates, (namespace, update) =>
        updates.set(`${namespace}\n${update.runId}`, JSON.stringify([namespace, update])),
      ),
      deliveries: this.#share('deliveries', live.deliveries, (namespace, { id }) =>
        bus.publish('delivery', JSON.stringify([namespace, id])),
      ),
      progress: this.#share('progress', live.progress, (namespace, { runId }) =>
        progress.set(`${namespace}\n${runId}`, JSON.stringify([namespace, runId])),
      ),
      bulks: this.#share('bulks', live.bulks, bulkId => bulks.set(bulkId, bulkId)),
      streams: this.#share('streams', live.streams, key => streams.set(key, key)),
    }
    bus.on('follow', text => {
      const [name, ...keys] = JSON.parse(text) as [TopicName, ...string[]]
      followed[name]?.add(keys)
    })
    bus.on('runs', text => {
      for (const runId of text.split(' ')) live.runs.publishHere(runId, undefined)
    })
    bus.on('running', text => {
      const [runId, frame] = JSON.parse(text) as [string, DerivedFrame]
      live.running.publishHere(runId, frame)
    })
    bus.on('move', text => {
      const [namespace, move] = JSON.parse(text) as [string, RunMove]
      live.moves.publishHere(namespace, move)
    })
    bus.on('event', text => {
      const [namespace, id] = JSON.parse(text) as [string, string]
      void this.#readFor(live.events, namespace, reads => reads.event(id))
    })
    bus.on('updates', text => {
      for (const part of JSON.parse(text) as string[]) {
        const [namespace, update] = JSON.parse(part) as [string, RunUpdate]
        live.updates.publishHere(namespace, update)
      }
    })
    bus.on('delivery', text => {
      const [namespace, id] = JSON.parse(text) as [string, string]
      void this.#readFor(live.deliveries, namespace, async reads => (await reads.delivery(id))?.delivery)
    })
    bus.on('progress', text => {
      for (const name of JSON.parse(text) as string[]) {
        const [namespace, runId] = JSON.parse(name) as [string, string]
        // The value may be too long for a message.
        void this.#readFor(live.progress, namespace, reads => reads.progress(runId))
      }
    })
    bus.on('bulks', text => {
      for (const bulkId of JSON.parse(text) as string[]) live.bulks.publishHere(bulkId, undefined)
    })
    bus.on('streams', text => {
      for (const key of JSON.parse(text) as string[]) live.streams.publishHere(key, undefined)
    })
    bus.onReconnect(() => {
      this.#announceFollowed()
      live.gap()
    })
  }

  override stop(deadline?: AbortSignal): Promise<void> {
    for (const gathered of this.#gathered) gathered.stop()
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
    for (const name of TOPICS)
      for (const keys of broadcastBatches(live[name].keys)) bus.publish('follow', JSON.stringify([name, ...keys]))
  }

  #gather(ms: number, flush: (items: Iterable<string>) => void): Gathered<string> {
    const gathered = new Gathered({ clock: this.#deps.clock, ms, flush })
    this.#gathered.push(gathered)
    return gathered
  }

  #publishRuns(changed: Iterable<string>): void {
    for (const runIds of broadcastBatches(changed)) this.#deps.bus.publish('runs', runIds.join(' '))
  }

  /** Publishes the message, unless it is too long for the bus. */
  #publishShort(channel: string, message: unknown): void {
    const text = JSON.stringify(message)
    if (Buffer.byteLength(text) <= BROADCAST_BYTES_MAX) this.#deps.bus.publish(channel, text)
  }

  #publishBatches(channel: string, texts: Iterable<string>): void {
    for (const batch of broadcastBatches(texts)) this.#publishShort(channel, batch)
  }

  /** Reads an item that another engine committed. Events and deliveries may be too long for a message. */
  async #readFor<T>(topic: Topic<T>, namespace: string, read: (reads: Reads) => Promise<T | undefined>): Promise<void> {
    if (!topic.has(namespace) || this.#reads >= READS_MAX) return
    this.#reads++
    const item = await read(this.#deps.store.in(namespace)).catch(() => undefined)
    this.#reads--
    if (item) topic.publishHere(namespace, item)
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
    // Not done for every message: an engine with thousands of streams sends a message for each one that opens.
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
