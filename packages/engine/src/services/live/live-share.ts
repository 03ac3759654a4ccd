// Streams that are open on one engine hear of what others commit. Each engine says what its streams follow, and is told of
// that alone: where nobody follows a stream, nothing is said. Opened by compose where there is a bus.

import { BROADCAST_BYTES_MAX, type Bus, broadcastBatches } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Store } from '../../ports/store.ts'
import type { Live, RunMove, Topic } from './live.ts'

/** What is followed is said again this often, and is forgotten when it was not. */
const SAY_EVERY_MS = 5000
const FOLLOWED_MS = 15_000
/** Keys of a topic that are remembered as followed; more, and the streams hear of things by their own looks. */
const FOLLOWED_MAX = 10_000
/** Events of others that are read for our live tails at once. A tail of more than that skips: it is best effort. */
const READS_MAX = 1000
/** Rings of runs are told together, this long after the first. */
const GATHER_MS = 5

type Name = 'runs' | 'moves' | 'events'

export interface LiveShareDeps {
  bus: Bus
  live: Live
  store: Pick<Store, 'in'>
  clock: Clock
}

export class LiveShare {
  readonly #deps: LiveShareDeps
  readonly #rung = new Set<string>()
  #reads = 0
  #stopSaying: () => void = () => {}
  #stopRinging: () => void = () => {}

  constructor(deps: LiveShareDeps) {
    const { bus, live } = deps
    this.#deps = deps
    const followed = {
      runs: this.#share('runs', live.runs, runId => this.#ringRun(runId)),
      moves: this.#share('moves', live.moves, (namespace, move) => this.#tellMove(namespace, move)),
      events: this.#share('events', live.events, (namespace, { id }) =>
        bus.publish('event', JSON.stringify([namespace, id])),
      ),
    }
    bus.on('follow', text => {
      const [name, ...keys] = JSON.parse(text) as [Name, ...string[]]
      followed[name]?.add(keys)
    })
    bus.on('runs', text => {
      for (const runId of text.split(' ')) live.runs.hear(runId, undefined)
    })
    bus.on('move', text => {
      const [namespace, move] = JSON.parse(text) as [string, RunMove]
      live.moves.hear(namespace, move)
    })
    bus.on('event', text => {
      const [namespace, id] = JSON.parse(text) as [string, string]
      void this.#hearEvent(namespace, id)
    })
    bus.onReconnect(() => this.#sayAll())
    this.#saySoon()
  }

  close(): void {
    this.#stopSaying()
    this.#stopRinging()
  }

  #saySoon(): void {
    const { clock } = this.#deps
    this.#stopSaying = clock.at(clock.now() + SAY_EVERY_MS, () => {
      this.#sayAll()
      this.#saySoon()
    })
  }

  #share<T>(name: Name, topic: Topic<T>, tell: (key: string, told: T) => void): Followed {
    const followed = new Followed(this.#deps.clock)
    const listened = (key: string) => this.#deps.bus.publish('follow', JSON.stringify([name, key]))
    topic.elsewhere = { has: key => followed.has(key), tell, listened }
    return followed
  }

  #sayAll(): void {
    const { bus, live } = this.#deps
    for (const name of ['runs', 'moves', 'events'] as const)
      for (const keys of broadcastBatches(live[name].keys))
        bus.publish('follow', JSON.stringify([name, ...keys]))
  }

  #ringRun(runId: string): void {
    const { clock } = this.#deps
    if (this.#rung.size === 0) this.#stopRinging = clock.at(clock.now() + GATHER_MS, () => this.#ringRuns())
    this.#rung.add(runId)
  }

  #ringRuns(): void {
    const rung = [...this.#rung]
    this.#rung.clear()
    for (const runIds of broadcastBatches(rung)) this.#deps.bus.publish('runs', runIds.join(' '))
  }

  #tellMove(namespace: string, move: RunMove): void {
    const text = JSON.stringify([namespace, move])
    if (Buffer.byteLength(text) <= BROADCAST_BYTES_MAX) this.#deps.bus.publish('move', text)
  }

  /** It may be long, so it is read here. */
  async #hearEvent(namespace: string, id: string): Promise<void> {
    const { live, store } = this.#deps
    if (!live.events.has(namespace) || this.#reads >= READS_MAX) return
    this.#reads++
    const event = await store
      .in(namespace)
      .event(id)
      .catch(() => undefined)
    this.#reads--
    if (event) live.events.hear(namespace, event)
  }
}

/** What streams of other engines follow, until they say so no more. */
class Followed {
  readonly #clock: Clock
  readonly #until = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(keys: readonly string[]): void {
    const now = this.#clock.now()
    if (this.#until.size > FOLLOWED_MAX / 2)
      for (const [key, until] of this.#until) if (until < now) this.#until.delete(key)
    for (const key of keys)
      if (this.#until.size < FOLLOWED_MAX || this.#until.has(key)) this.#until.set(key, now + FOLLOWED_MS)
  }

  has(key: string): boolean {
    if (this.#until.size === 0) return false
    const until = this.#until.get(key)
    if (until === undefined) return false
    if (until >= this.#clock.now()) return true
    this.#until.delete(key)
    return false
  }
}
