// The Connect transport of engines that share a store. A runner with a socket here is called on it, any other through the engine
// that has its socket. Opened by compose if there is a bus.

import { connectUrlOwner } from '../../../domain/model/connect-url.ts'
import type { Bus } from '../../../ports/bus.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Presence } from '../../../ports/connections.ts'
import type { InvokeCall, InvokeReply, Transport } from '../../../ports/transport.ts'
import type { ConnectTransport } from '../transport.ts'
import { ForeignResults } from './foreign-results.ts'
import { RelayHost } from './host.ts'
import { EnginePresence } from './presence.ts'
import { RelayTransport } from './transport.ts'

export interface RelayedConnectOptions {
  bus: Bus
  clock: Clock
  local: ConnectTransport
  /** A runner of the app was connected to another engine. */
  onAppReachable(namespace: string, app: string): void
  /** A runner of another engine may have room for more, or is gone. */
  onRoomChange(url: string): void
  /** How long `close` waits for the pending calls. */
  closeGraceMs?: number
}

export class RelayedConnect implements Transport, Presence {
  readonly presence: EnginePresence
  /** The invokes carried out here for other engines. */
  readonly host: RelayHost
  readonly foreignResults: ForeignResults
  readonly #local: ConnectTransport
  readonly #relay: RelayTransport

  constructor({ bus, clock, local, onAppReachable, onRoomChange, closeGraceMs }: RelayedConnectOptions) {
    this.#local = local
    this.presence = new EnginePresence({
      bus,
      clock,
      local,
      onReachable: url => {
        const owner = connectUrlOwner(url)
        if (owner) onAppReachable(owner.namespace, owner.app)
      },
      onRoomChange,
      onGone: engine => this.#relay.engineGone(engine),
    })
    this.#relay = new RelayTransport({ bus, clock, presence: this.presence, closeGraceMs })
    this.foreignResults = new ForeignResults({ bus, clock, local })
    this.host = new RelayHost({ bus, clock, transport: { invoke: call => this.#invokeHere(call) } })
  }

  invoke(call: InvokeCall): Promise<InvokeReply> {
    return this.#local.reaches(call.url) ? this.#invokeHere(call) : this.#relay.invoke(call)
  }

  reaches(url: string): boolean {
    return this.#local.reaches(url) || this.presence.engineOf(url) !== undefined
  }

  /** The room of another engine's runner is as last reported: that engine refuses a call if there is no room. */
  room(url: string): number | undefined {
    return this.#local.reaches(url) ? this.#local.room(url) : this.presence.room(url)
  }

  /** Makes the engine with the runner's socket leave some of its room to this engine. */
  requestRoom(url: string): void {
    if (!this.#local.reaches(url)) this.presence.requestRoom(url)
  }

  lastSeenAt(url: string): number | undefined {
    return this.#local.lastSeenAt(url) ?? this.presence.lastMessageAt(url)
  }

  /** Lets pending calls end for a moment, then breaks them. */
  async close(): Promise<void> {
    await Promise.all([this.#relay.close(), this.#local.close()])
    this.host.close()
    this.foreignResults.close()
    this.presence.close()
  }

  #invokeHere(call: InvokeCall): Promise<InvokeReply> {
    const reply = this.#local.invoke(call)
    this.presence.roomChanged(call.url)
    return reply.finally(() => this.presence.roomChanged(call.url))
  }
}
