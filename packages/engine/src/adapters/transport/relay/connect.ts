// Connect runners of the whole cluster: those with a socket here are called on it, others through the engine that has
// theirs. Opened by compose where there is a bus.

import { connectUrlOwner } from '../../../domain/connect-url.ts'
import type { Bus } from '../../../ports/bus.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Presence } from '../../../ports/connections.ts'
import type { InvokeCall, InvokeReply, Transport } from '../../../ports/transport.ts'
import type { ConnectTransport } from '../connect/transport.ts'
import { RelayHost } from './host.ts'
import { EnginePresence } from './presence.ts'
import { RelayTransport } from './transport.ts'

export interface RelayedConnectOptions {
  bus: Bus
  clock: Clock
  local: ConnectTransport
  /** A runner of the app came within reach through another engine. */
  onArrived(namespace: string, app: string): void
  /** How long calls under way have, at the close, to end. */
  closeGraceMs?: number
}

export class RelayedConnect implements Transport, Presence {
  readonly #local: ConnectTransport
  readonly #presence: EnginePresence
  readonly #relay: RelayTransport
  readonly #host: RelayHost

  constructor({ bus, clock, local, onArrived, closeGraceMs }: RelayedConnectOptions) {
    this.#local = local
    this.#presence = new EnginePresence({
      bus,
      clock,
      own: () => local.connected,
      ownRoom: url => local.room(url),
      onArrived: url => {
        const owner = connectUrlOwner(url)
        if (owner) onArrived(owner.namespace, owner.app)
      },
      onGone: engine => this.#relay.lost(engine),
    })
    this.#relay = new RelayTransport({ bus, clock, presence: this.#presence, closeGraceMs })
    this.#host = new RelayHost({ bus, clock, transport: { invoke: call => this.#invokeHere(call) } })
  }

  invoke(call: InvokeCall): Promise<InvokeReply> {
    return this.#local.reaches(call.url) ? this.#invokeHere(call) : this.#relay.invoke(call)
  }

  reaches(url: string): boolean {
    return this.#local.reaches(url) || this.#presence.engineOf(url) !== undefined
  }

  /** Of another engine's sockets as that engine told it last: a call that finds none after all waits in line there. */
  hasRoom(url: string): boolean {
    return this.#local.reaches(url) ? this.#local.hasRoom(url) : this.#presence.hasRoom(url)
  }

  lastSeenAt(url: string): number | undefined {
    return this.#local.lastSeenAt(url) ?? this.#presence.heardAt(url)
  }

  /** A runner has its first socket here, or none any more. */
  moved(url: string, isHere: boolean): void {
    this.#presence.moved(url, isHere)
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
    this.#presence.close()
  }

  /** The other engines are told how much room it leaves. */
  #invokeHere(call: InvokeCall): Promise<InvokeReply> {
    const reply = this.#local.invoke(call)
    this.#presence.roomMoved(call.url)
    return reply.finally(() => this.#presence.roomMoved(call.url))
  }
}
