// Which Connect runners have a socket on which other engine, and for how much they have room, as those engines say it:
// with every change, and in short every other second. An engine that falls silent is taken for dead, and its runners
// with it.

import { type Bus, broadcastBatches } from '../../../ports/bus.ts'
import type { Clock } from '../../../ports/clock.ts'
import { repeatEvery } from './repeat.ts'
import { ReportedRoom } from './reported-room.ts'

const SAY_EVERY_MS = 2000
/** Turns of ours in which an engine is not heard. */
const SILENT_TURNS_MAX = 4
/** What waits for room on another engine's runner says so this often, and is believed for so long. */
const WANT_EVERY_MS = 1000
const WANTED_MS = 3000
/** Changes of room are told together, this long after the first. */
const GATHER_MS = 50

export interface EnginePresenceOptions {
  bus: Bus
  clock: Clock
  /** Runners with a socket on this engine. */
  own(): string[]
  /** How many invokes a runner of this engine would take at once; undefined when it has no bound. */
  ownRoom(url: string): number | undefined
  /** A runner came within reach. */
  onArrived(url: string): void
  /** A runner of another engine may have room for more, or is gone. */
  onRoom(url: string): void
  /** An engine fell silent, or said goodbye. */
  onGone(engine: string): void
}

interface Known {
  urls: Set<string>
  room: ReportedRoom
  /** Of the list that `urls` is; undefined until one was heard. */
  version: number | undefined
  heardAt: number
  silentTurns: number
  /** Runners of ours that it waits for room on, and when it said so. */
  wanted: Map<string, number>
}

export class EnginePresence {
  readonly #options: EnginePresenceOptions
  readonly #engines = new Map<string, Known>()
  readonly #stopTurns: () => void
  /** Runners of this engine whose room changed. */
  readonly #moved = new Set<string>()
  #stopGathering: () => void = () => {}
  /** Runners of others that this engine waits for, and when it said so. */
  readonly #wants = new Map<string, number>()
  /** Runners whose room was left to another engine last: the next is for this one. */
  readonly #lent = new Set<string>()
  #lendTurn = 0
  #version = 0
  #hasLeft = false

  constructor(options: EnginePresenceOptions) {
    this.#options = options
    const { bus, clock } = options
    bus.on('here', (text, from) => this.#heardHere(from, Number(text)))
    bus.on('moved', (text, from) => this.#heardMove(from, text))
    bus.on('who', (_, from) => this.#list(from))
    bus.on('list', (text, from) => this.#heardList(from, text))
    bus.on('room', (text, from) => this.#heardRoom(from, text))
    bus.on('want', (url, from) => this.#heard(from).wanted.set(url, clock.now()))
    bus.on('bye', (_, from) => this.#drop(from))
    bus.onReconnect(() => this.#say())
    this.#stopTurns = repeatEvery(clock, SAY_EVERY_MS, () => this.#turn())
    this.#say()
  }

  /** An engine that has a socket of the runner, one with room for it if there is one; undefined when none is known. */
  engineOf(url: string): string | undefined {
    let found: string | undefined
    for (const [engine, { urls, room }] of this.#engines) {
      if (!urls.has(url)) continue
      if (room.has(url)) return engine
      found ??= engine
    }
    return found
  }

  /** How many invokes the runner would take at once, for all we know; undefined when it has no bound, or nobody told. */
  room(url: string): number | undefined {
    const engine = this.engineOf(url)
    return engine === undefined ? 0 : this.#engines.get(engine)?.room.free(url)
  }

  /** The engine refused an invoke of the runner for want of room. */
  invokeRefused(engine: string, url: string): void {
    this.#engines.get(engine)?.room.told(url, 0)
  }

  /** An invoke of the runner was sent to the engine. */
  invokeSent(engine: string, url: string): void {
    this.#engines.get(engine)?.room.took(url)
  }

  /** Something waits here for room on the runner. */
  requestRoom(url: string): void {
    const { bus, clock } = this.#options
    const engine = this.engineOf(url)
    if (engine === undefined || clock.now() - (this.#wants.get(url) ?? 0) < WANT_EVERY_MS) return
    this.#wants.set(url, clock.now())
    bus.publish('want', url, engine)
  }

  /**
   * A runner of this engine has room. Every other time it is left to an engine that waits for it, which is told: this
   * engine alone would always be the first to know.
   */
  yieldsRoom(url: string): boolean {
    if (this.#engines.size === 0 || !this.#options.ownRoom(url)) return false
    const since = this.#options.clock.now() - WANTED_MS
    const waiting = [...this.#engines].filter(([, { wanted }]) => (wanted.get(url) ?? 0) > since)
    if (waiting.length === 0 || this.#lent.delete(url)) return false
    this.#lent.add(url)
    const [engine] = waiting[++this.#lendTurn % waiting.length] as [string, Known]
    this.#tellRoom([url], engine)
    return true
  }

  /** When an engine that has the runner was last heard. */
  heardAt(url: string): number | undefined {
    return this.#engines.get(this.engineOf(url) ?? '')?.heardAt
  }

  /** A runner has its first socket on this engine, or none any more. */
  presenceChanged(url: string, isHere: boolean): void {
    if (this.#hasLeft) return
    this.#version++
    this.#options.bus.publish('moved', `${this.#version} ${isHere ? '+' : '-'}${url}`)
    if (isHere) this.#tellRoom([url])
  }

  /** An invoke of a runner of this engine began or ended. */
  roomChanged(url: string): void {
    if (this.#engines.size === 0 || this.#options.ownRoom(url) === undefined) return
    const { clock } = this.#options
    if (this.#moved.size === 0)
      this.#stopGathering = clock.at(clock.now() + GATHER_MS, () => {
        const moved = [...this.#moved]
        this.#moved.clear()
        this.#tellRoom(moved)
      })
    this.#moved.add(url)
  }

  /** Nobody shall send further invokes here; those under way go on. */
  leave(): void {
    this.#version++
    this.#hasLeft = true
    this.#say()
  }

  /** This engine is not there any more. */
  close(): void {
    this.#stopTurns()
    this.#stopGathering()
    this.#options.bus.publish('bye', '')
  }

  #turn(): void {
    const { own, ownRoom } = this.#options
    this.#say()
    // A word of it may have been lost, and is not believed for long.
    if (this.#engines.size > 0) this.#tellRoom(own().filter(url => ownRoom(url) === 0))
    forgetBefore(this.#wants, this.#options.clock.now() - WANTED_MS)
    for (const [engine, known] of this.#engines) {
      known.room.turn()
      forgetBefore(known.wanted, this.#options.clock.now() - WANTED_MS)
      if (++known.silentTurns > SILENT_TURNS_MAX) this.#drop(engine)
    }
  }

  #say(to?: string): void {
    this.#options.bus.publish('here', String(this.#version), to)
  }

  #list(to: string): void {
    const { bus, own } = this.#options
    const urls = this.#hasLeft ? [] : own()
    bus.publish('list', [this.#version, ...urls].join('\n'), to)
    this.#tellRoom(urls, to)
  }

  #tellRoom(urls: readonly string[], to?: string): void {
    const { bus, ownRoom } = this.#options
    const lines = urls.flatMap(url => {
      const room = ownRoom(url)
      return room === undefined ? [] : `${room} ${url}`
    })
    for (const some of broadcastBatches(lines)) bus.publish('room', some.join('\n'), to)
  }

  #heardHere(engine: string, version: number): void {
    const known = this.#heard(engine)
    if (known.version !== version) this.#options.bus.publish('who', '', engine)
  }

  #heardMove(engine: string, text: string): void {
    const known = this.#heard(engine)
    const [version, change] = splitOnce(text, ' ')
    if (known.version !== Number(version) - 1) {
      this.#options.bus.publish('who', '', engine)
      return
    }
    known.version++
    const url = change.slice(1)
    if (change.startsWith('-')) {
      known.urls.delete(url)
      this.#options.onRoom(url)
    } else if (!known.urls.has(url)) {
      known.urls.add(url)
      this.#options.onArrived(url)
    }
  }

  #heardList(engine: string, text: string): void {
    const known = this.#heard(engine)
    const [version, ...urls] = text.split('\n')
    const before = known.urls
    known.version = Number(version)
    known.urls = new Set(urls)
    for (const url of urls) if (!before.has(url)) this.#options.onArrived(url)
  }

  #heardRoom(engine: string, text: string): void {
    const { urls, room } = this.#heard(engine)
    for (const line of text.split('\n')) {
      const [free, url] = splitOnce(line, ' ')
      if (!urls.has(url)) continue
      room.told(url, Number(free))
      if (Number(free) > 0) this.#options.onRoom(url)
    }
  }

  #heard(engine: string): Known {
    let known = this.#engines.get(engine)
    if (!known) {
      known = {
        urls: new Set(),
        room: new ReportedRoom(),
        version: undefined,
        heardAt: 0,
        silentTurns: 0,
        wanted: new Map(),
      }
      this.#engines.set(engine, known)
      // It may be new, and not have heard of us.
      this.#say(engine)
    }
    known.heardAt = this.#options.clock.now()
    known.silentTurns = 0
    return known
  }

  #drop(engine: string): void {
    const known = this.#engines.get(engine)
    if (!known) return
    this.#engines.delete(engine)
    this.#options.onGone(engine)
    for (const url of known.urls) this.#options.onRoom(url)
  }
}

function forgetBefore(times: Map<string, number>, since: number): void {
  for (const [key, at] of times) if (at < since) times.delete(key)
}

/** The text before the first separator, and all behind it. */
export function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)]
}
