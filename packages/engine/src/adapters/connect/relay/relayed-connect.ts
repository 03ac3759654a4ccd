// Connect runners of the whole cluster: those with a socket here are called on it, others through the engine that has
// theirs. Opened by compose where there is a bus.

import { connectUrlOwner } from '../../../domain/model/connect-url.ts'
import type { Bus } from '../../../ports/bus.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Presence } from '../../../ports/connections.ts'
import type { InvokeCall, InvokeReply, Transport } from '../../../ports/transport.ts'
import type { ConnectTransport, ForeignResult } from '../transport.ts'
import { ForeignResults } from './foreign-results.ts'
import { RelayHost } from './host.ts'
import { EnginePresence } from './presence.ts'
import { RelayTransport } from './transport.ts'

export interface RelayedConnectOptions {
  bus: Bus
  clock: Clock
  local: ConnectTransport
  /** A runner of the app came within reach through another engine. */
  onAppReachable(namespace: string, app: string): void
  /** A runner of another engine may have room for more, or is gone. */
  onRoomChange(url: string): void
  /** How long calls under way have, at the close, to end. */
  closeGraceMs?: number
}

export class RelayedConnect implements Transport, Presence {
  readonly #local: ConnectTransport
  readonly #presence: EnginePresence
  readonly #relay: RelayTransport
  readonly #host: RelayHost
  readonly #strays: ForeignResults

  constructor({ bus, clock, local, onAppReachable, onRoomChange, closeGraceMs }: RelayedConnectOptions) {
    this.#local = local
    this.#presence = new EnginePresence({
      bus,
      clock,
      own: () => local.connected,
      ownRoom: url => local.room(url),
      onArrived: url => {
        const owner = connectUrlOwner(url)
        if (owner) onAppReachable(owner.namespace, owner.app)
      },
      onRoom: onRoomChange,
      onGone: engine => this.#relay.lost(engine),
    })
    this.#relay = new RelayTransport({ bus, clock, presence: this.#presence, closeGraceMs })
    this.#strays = new ForeignResults({
      bus,
      clock,
      holds: (url, id) => local.holds(url, id),
      take: stray => local.take(stray),
    })
    this.#host = new RelayHost({ bus, clock, transport: { invoke: call => this.#invokeHere(call) } })
  }

  invoke(call: InvokeCall): Promise<InvokeReply> {
    return this.#local.reaches(call.url) ? this.#invokeHere(call) : this.#relay.invoke(call)
  }

  reaches(url: string): boolean {
    return this.#local.reaches(url) || this.#presence.engineOf(url) !== undefined
  }

  /** Of another engine's sockets as that engine told it last: a call that finds none after all is refused there. */
  room(url: string): number | undefined {
    return this.#local.reaches(url) ? this.#local.room(url) : this.#presence.room(url)
  }

  /** The engine that has the runner leaves some of its room to us. */
  requestRoom(url: string): void {
    if (!this.#local.reaches(url)) this.#presence.requestRoom(url)
  }

  /** A runner of this engine has room: whether another engine, which was told, shall have the first of it. */
  yieldsRoom(url: string): boolean {
    return this.#presence.yieldsRoom(url)
  }

  lastSeenAt(url: string): number | undefined {
    return this.#local.lastSeenAt(url) ?? this.#presence.heardAt(url)
  }

  /** A runner has its first socket here, or none any more. */
  presenceChanged(url: string, isHere: boolean): void {
    this.#presence.presenceChanged(url, isHere)
  }

  /** The runner came back here with a result of an invoke that another engine may wait for. */
  forwardResult(stray: ForeignResult): Promise<void> {
    return this.#strays.handOver(stray)
  }

  /** No more invokes shall come from other engines. */
  leave(): void {
    this.#presence.leave()
  }

  /** Resolves when no call of another engine is under way here, or on abort. */
  idle(signal: AbortSignal): Promise<void> {
    return this.#host.idle(signal)
  }

  /** Calls under way have a moment to end. */
  async close(): Promise<void> {
    await Promise.all([this.#relay.close(), this.#local.close()])
    this.#host.close()
    this.#strays.close()
    this.#presence.close()
  }

  /** The other engines are told how much room it leaves. */
  #invokeHere(call: InvokeCall): Promise<InvokeReply> {
    const reply = this.#local.invoke(call)
    this.#presence.roomChanged(call.url)
    return reply.finally(() => this.#presence.roomChanged(call.url))
  }
}
