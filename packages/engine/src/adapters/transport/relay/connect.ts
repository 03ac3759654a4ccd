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
}

export class RelayedConnect implements Transport, Presence {
  readonly #local: ConnectTransport
  readonly #clock: Clock
  readonly #presence: EnginePresence
  readonly #relay: RelayTransport
  readonly #host: RelayHost

  constructor({ bus, clock, local, onArrived }: RelayedConnectOptions) {
    this.#local = local
    this.#clock = clock
    this.#presence = new EnginePresence({
      bus,
      own: () => local.connected,
      onArrived: url => {
        const owner = connectUrlOwner(url)
        if (owner) onArrived(owner.namespace, owner.app)
      },
      onGone: engine => this.#relay.lost(engine),
    })
    this.#relay = new RelayTransport({ bus, presence: this.#presence })
    this.#host = new RelayHost({ bus, transport: local })
  }

  invoke(call: InvokeCall): Promise<InvokeReply> {
    return (this.#local.reaches(call.url) ? this.#local : this.#relay).invoke(call)
  }

  reaches(url: string): boolean {
    return this.#local.reaches(url) || this.#presence.engineOf(url) !== undefined
  }

  /** What another engine's sockets have room for is not known here. */
  hasRoom(url: string): boolean {
    return !this.#local.reaches(url) || this.#local.hasRoom(url)
  }

  lastSeenAt(url: string): number | undefined {
    const silence = this.#presence.silenceOf(url)
    return (
      this.#local.lastSeenAt(url) ??
      (silence === undefined ? undefined : this.#clock.now() - Math.round(silence))
    )
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
}
