// Invokes of Connect runners whose socket is on another engine: sent to that engine over the bus, where host.ts carries
// them out. Messages may be lost, so this side requests the status of every call at each tick. An engine that is silent,
// or no longer has the call, ends it.

import { randomBytes } from 'node:crypto'
import type { Bus } from '../../../ports/bus.ts'
import { type Clock, every } from '../../../ports/clock.ts'
import type { InvokeCall, InvokeReply, Transport } from '../../../ports/transport.ts'
import { ENGINE_CLOSING, PendingCalls } from '../../transport/pending-calls.ts'
import { NOT_CONNECTED } from '../transport.ts'
import { RelayedCall } from './call.ts'
import { CALLER_TOPICS, HOST_TOPICS, handleTopics, readReply, splitOnce } from './messages.ts'
import type { EnginePresence } from './presence.ts'
import { RELAY_TICK_MS } from './tick.ts'

export interface RelayTransportOptions {
  bus: Bus
  clock: Clock
  presence: Pick<EnginePresence, 'engineOf' | 'invokeSent' | 'invokeRefused'>
  /** How long `close` waits for the pending calls. */
  closeGraceMs?: number | undefined
}

export class RelayTransport implements Transport {
  readonly #options: RelayTransportOptions
  readonly #pending = new PendingCalls<string, RelayedCall>()
  readonly #stopTicks: () => void
  readonly #idPrefix = randomBytes(6).toString('hex')
  #idCount = 0

  constructor(options: RelayTransportOptions) {
    const { bus, clock } = options
    this.#options = options
    handleTopics(bus, CALLER_TOPICS, {
      reply: (text, from) => this.#receiveReply(text, from),
      checkpoint: (text, from) => this.#receiveCheckpoint(text, from),
      alive: ids => {
        for (const id of ids.split(' ')) this.#pending.get(id)?.confirm()
      },
      unknown: ids => {
        for (const id of ids.split(' ')) this.#pending.get(id)?.unknown()
      },
    })
    this.#stopTicks = every(clock, RELAY_TICK_MS, () => this.#requestStatus())
  }

  invoke(call: InvokeCall): Promise<InvokeReply> {
    if (call.signal.aborted) return Promise.resolve({ kind: 'aborted' })
    if (this.#pending.isClosing) return Promise.resolve({ kind: 'refused', message: ENGINE_CLOSING })
    const { bus, clock, presence } = this.#options
    const engine = presence.engineOf(call.url)
    if (engine === undefined) return Promise.resolve(NOT_CONNECTED)
    const id = `${this.#idPrefix}${(++this.#idCount).toString(36)}`
    return new Promise(resolve => {
      const onReply = (reply: InvokeReply) => {
        this.#pending.delete(id)
        if (reply.kind === 'refused' && reply.isFull) presence.invokeRefused(engine, call.url)
        resolve(reply)
      }
      const relayed = new RelayedCall({ id, engine, call, bus, onReply })
      this.#pending.add(id, relayed)
      relayed.send(clock.now())
      presence.invokeSent(engine, call.url)
    })
  }

  /** Called when the engine is dead, or no longer answers for its runners. */
  engineGone(engine: string): void {
    for (const call of this.#pending.all())
      if (call.engine === engine) call.fail('the engine with the socket of the runner stopped responding')
  }

  close(): Promise<void> {
    return this.#pending.close(this.#options.closeGraceMs).finally(this.#stopTicks)
  }

  #receiveReply(text: string, from: string): void {
    const { id, reply } = readReply(text)
    // Also for a call that has ended: the reply was repeated because this message was lost.
    this.#options.bus.publish(HOST_TOPICS.replyReceived, id, from)
    this.#pending.get(id)?.end(reply)
  }

  #receiveCheckpoint(text: string, from: string): void {
    const [head, payload] = splitOnce(text, '\n')
    const [id, no] = splitOnce(head, ' ')
    const call = this.#pending.get(id)
    if (call) void call.checkpoint(Number(no), payload)
    else this.#options.bus.publish(HOST_TOPICS.cancel, id, from)
  }

  #requestStatus(): void {
    const idsByEngine = new Map<string, string[]>()
    for (const call of this.#pending.all()) {
      if (!call.tick()) {
        call.fail('the engine with the socket of the runner reports nothing about the call')
        continue
      }
      const ids = idsByEngine.get(call.engine) ?? []
      ids.push(call.id)
      idsByEngine.set(call.engine, ids)
    }
    for (const [engine, ids] of idsByEngine) this.#options.bus.publish(HOST_TOPICS.statusRequest, ids.join(' '), engine)
  }
}
