// Which Connect runners have a socket on which other engine, and how much room they have. Engines publish every change, and their
// list's version at every tick. An engine that is silent for too long is considered dead with its runners. Used by
// relayed-connect.ts.

import { type Bus, broadcastBatches } from '../../../ports/bus.ts'
import { type Clock, every } from '../../../ports/clock.ts'
import type { Beat } from '../../../ports/connections.ts'
import type { ConnectTransport } from '../transport.ts'
import { handleTopics, PRESENCE_TOPICS, splitOnce } from './messages.ts'
import { ReportedRoom } from './reported-room.ts'
import { ROOM_REQUEST_VALID_MS, RoomRequests, removeBefore } from './room-requests.ts'
import { RELAY_TICK_MS } from './tick.ts'

/** An engine is considered dead after more ticks than this without a message from it. */
const ENGINE_SILENT_TICKS_MAX = 4
/** A request for room is repeated at most this often. */
const ROOM_REQUEST_EVERY_MS = 1000
/** Changes of room are published together, this long after the first. */
const ROOM_CHANGES_DELAY_MS = 50

export interface EnginePresenceOptions {
  bus: Bus
  clock: Clock
  /** Runners with a socket on this engine. */
  local: Pick<ConnectTransport, 'connected' | 'room' | 'beatHere'>
  /** A runner was connected to another engine. */
  onReachable(url: string): void
  /** A runner of another engine may have room for more, or is gone. */
  onRoomChange(url: string): void
  /** An engine is considered dead, or has shut down. */
  onGone(engine: string): void
}

/** Another engine, as its messages describe it. */
interface RemoteEngine {
  urls: Set<string>
  room: ReportedRoom
  /** The version of the list in `urls`; undefined before the first list. */
  version: number | undefined
  lastMessageAt: number
  silentTicks: number
}

export class EnginePresence {
  readonly #options: EnginePresenceOptions
  readonly #engines = new Map<string, RemoteEngine>()
  readonly #roomRequests: RoomRequests
  readonly #stopTicks: () => void
  /** Runners of this engine whose room changed since it was published. */
  readonly #changedRooms = new Set<string>()
  #cancelPublish: () => void = () => {}
  /** Runners of other engines on which this engine waits for room, and when it last requested room. */
  readonly #requestedAt = new Map<string, number>()
  #version = 0
  #hasLeft = false

  constructor(options: EnginePresenceOptions) {
    this.#options = options
    const { bus, clock } = options
    this.#roomRequests = new RoomRequests(clock)
    handleTopics(bus, PRESENCE_TOPICS, {
      announce: (version, from) => {
        if (this.#noteMessage(from).version !== Number(version)) this.#requestList(from)
      },
      change: (text, from) => this.#receiveChange(from, text),
      listRequest: (_, from) => this.#sendList(from),
      list: (text, from) => this.#receiveList(from, text),
      room: (text, from) => this.#receiveRoom(from, text),
      roomRequest: (url, from) => {
        this.#noteMessage(from)
        this.#roomRequests.add(url, from)
      },
      beat: text => {
        const [namespace = '', step = '', ...instances] = text.split('\n')
        options.local.beatHere(namespace, { instances, step: step === '' ? undefined : decodeURIComponent(step) })
      },
      goodbye: (_, from) => this.#remove(from),
    })
    bus.onReconnect(() => this.#announce())
    this.#stopTicks = every(clock, RELAY_TICK_MS, () => this.#tick())
    this.#announce()
  }

  /** Returns an engine with a socket of the runner, preferably one with room; undefined when none is known. */
  engineOf(url: string): string | undefined {
    let found: string | undefined
    for (const [engine, { urls, room }] of this.#engines) {
      if (!urls.has(url)) continue
      if (room.free(url) !== 0) return engine
      found ??= engine
    }
    return found
  }

  /** How many more invokes the runner would take, as far as known; undefined when it has no known bound. */
  room(url: string): number | undefined {
    const engine = this.engineOf(url)
    return engine === undefined ? 0 : this.#engines.get(engine)?.room.free(url)
  }

  /** Notes that the engine refused an invoke because the runner has no room. */
  invokeRefused(engine: string, url: string): void {
    this.#engines.get(engine)?.room.report(url, 0)
  }

  invokeSent(engine: string, url: string): void {
    this.#engines.get(engine)?.room.invokeSent(url)
  }

  /** Called when a call waits here for room on the runner. */
  requestRoom(url: string): void {
    const { bus, clock } = this.#options
    const engine = this.engineOf(url)
    const now = clock.elapsed()
    if (engine === undefined || now - (this.#requestedAt.get(url) ?? -Infinity) < ROOM_REQUEST_EVERY_MS) return
    this.#requestedAt.set(url, now)
    bus.publish(PRESENCE_TOPICS.roomRequest, url, engine)
  }

  /**
   * Called when a runner of this engine has room. Every other time the room goes to an engine that waits for it; this notifies
   * that engine and returns true. Otherwise this engine would always take the room, being the first to know.
   */
  yieldsRoom(url: string): boolean {
    if (!this.#options.local.room(url)) return false
    const engine = this.#roomRequests.next(url)
    if (engine === undefined) return false
    this.#publishRoom([url], engine)
    return true
  }

  /** When an engine that has the runner last sent a message. */
  lastMessageAt(url: string): number | undefined {
    return this.#engines.get(this.engineOf(url) ?? '')?.lastMessageAt
  }

  /** A runner has its first socket on this engine, or has lost its last. */
  presenceChanged(url: string, isHere: boolean): void {
    if (this.#hasLeft) return
    this.#version++
    this.#options.bus.publish(PRESENCE_TOPICS.change, `${this.#version} ${isHere ? '+' : '-'}${url}`)
    if (isHere) this.#publishRoom([url])
  }

  /** An invoke of a runner of this engine began or ended. */
  roomChanged(url: string): void {
    if (this.#engines.size === 0 || this.#options.local.room(url) === undefined) return
    const { clock } = this.#options
    if (this.#changedRooms.size === 0)
      this.#cancelPublish = clock.after(ROOM_CHANGES_DELAY_MS, () => {
        const changed = [...this.#changedRooms]
        this.#changedRooms.clear()
        this.#publishRoom(changed)
      })
    this.#changedRooms.add(url)
  }

  /** Publishes a heartbeat that arrived here for sockets that another engine may have. */
  beat(namespace: string, { instances, step = '' }: Beat): void {
    this.#options.bus.publish(PRESENCE_TOPICS.beat, [namespace, encodeURIComponent(step), ...instances].join('\n'))
  }

  /** Announces an empty list, so that no engine sends further invokes; invokes under way continue. */
  leave(): void {
    this.#version++
    this.#hasLeft = true
    this.#announce()
  }

  /** This engine shuts down. */
  close(): void {
    this.#stopTicks()
    this.#cancelPublish()
    this.#options.bus.publish(PRESENCE_TOPICS.goodbye, '')
  }

  #tick(): void {
    const { local, clock } = this.#options
    this.#announce()
    // Repeated, since a report may have been lost and counts only for a few ticks.
    if (this.#engines.size > 0) this.#publishRoom(local.connected.filter(url => local.room(url) === 0))
    removeBefore(this.#requestedAt, clock.elapsed() - ROOM_REQUEST_VALID_MS)
    this.#roomRequests.tick()
    for (const [engine, remote] of this.#engines) {
      remote.room.tick()
      if (++remote.silentTicks > ENGINE_SILENT_TICKS_MAX) this.#remove(engine)
    }
  }

  #announce(to?: string): void {
    this.#options.bus.publish(PRESENCE_TOPICS.announce, String(this.#version), to)
  }

  #sendList(to: string): void {
    const { bus, local } = this.#options
    const urls = this.#hasLeft ? [] : local.connected
    bus.publish(PRESENCE_TOPICS.list, [this.#version, ...urls].join('\n'), to)
    this.#publishRoom(urls, to)
  }

  #publishRoom(urls: readonly string[], to?: string): void {
    const { bus, local } = this.#options
    const lines = urls.flatMap(url => {
      const room = local.room(url)
      return room === undefined ? [] : `${room} ${url}`
    })
    for (const batch of broadcastBatches(lines)) bus.publish(PRESENCE_TOPICS.room, batch.join('\n'), to)
  }

  #receiveChange(engine: string, text: string): void {
    const remote = this.#noteMessage(engine)
    const [version, change] = splitOnce(text, ' ')
    // Otherwise a change before this one was lost.
    if (remote.version !== Number(version) - 1) {
      this.#requestList(engine)
      return
    }
    remote.version++
    const url = change.slice(1)
    if (change.startsWith('-')) {
      remote.urls.delete(url)
      this.#options.onRoomChange(url)
    } else if (!remote.urls.has(url)) {
      remote.urls.add(url)
      this.#options.onReachable(url)
    }
  }

  #requestList(engine: string): void {
    this.#options.bus.publish(PRESENCE_TOPICS.listRequest, '', engine)
  }

  #receiveList(engine: string, text: string): void {
    const remote = this.#noteMessage(engine)
    const [version, ...urls] = text.split('\n')
    const before = remote.urls
    remote.version = Number(version)
    remote.urls = new Set(urls)
    for (const url of urls) if (!before.has(url)) this.#options.onReachable(url)
  }

  #receiveRoom(engine: string, text: string): void {
    const { urls, room } = this.#noteMessage(engine)
    for (const line of text.split('\n')) {
      const [free, url] = splitOnce(line, ' ')
      if (!urls.has(url)) continue
      room.report(url, Number(free))
      if (Number(free) > 0) this.#options.onRoomChange(url)
    }
  }

  /** Notes that the engine lives: it sent a message. */
  #noteMessage(engine: string): RemoteEngine {
    let remote = this.#engines.get(engine)
    if (!remote) {
      const room = new ReportedRoom()
      remote = { urls: new Set(), room, version: undefined, lastMessageAt: 0, silentTicks: 0 }
      this.#engines.set(engine, remote)
      // It may have started after the last announcement.
      this.#announce(engine)
    }
    remote.lastMessageAt = this.#options.clock.now()
    remote.silentTicks = 0
    return remote
  }

  #remove(engine: string): void {
    const remote = this.#engines.get(engine)
    if (!remote) return
    this.#engines.delete(engine)
    this.#roomRequests.remove(engine)
    this.#options.onGone(engine)
    for (const url of remote.urls) this.#options.onRoomChange(url)
  }
}
