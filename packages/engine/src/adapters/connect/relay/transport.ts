// Invokes of Connect runners whose socket is on another engine: asked of that engine over the bus (host.ts answers
// there). Words may be lost: this side asks from time to time whether each call is still known, and an engine that falls
// silent, or knows it no more, ends it.

import { randomBytes } from 'node:crypto'
import type { Bus } from '../../../ports/bus.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { InvokeCall, InvokeReply, Transport } from '../../../ports/transport.ts'
import { ENGINE_CLOSING, PendingCalls } from '../../transport/pending-calls.ts'
import { RelayedCall } from './call.ts'
import { type EnginePresence, splitOnce } from './presence.ts'
import { repeatEvery } from './repeat.ts'

const ASK_EVERY_MS = 2000
const CLOSE_GRACE_MS = 1000

export interface RelayTransportOptions {
  bus: Bus
  clock: Clock
  presence: Pick<EnginePresence, 'engineOf' | 'invokeSent' | 'invokeRefused'>
  /** How long `close` waits for the calls under way. */
  closeGraceMs?: number | undefined
}

export class RelayTransport implements Transport {
  readonly #bus: Bus
  readonly #clock: Clock
  readonly #presence: RelayTransportOptions['presence']
  readonly #underWay = new PendingCalls<string, RelayedCall>()
  readonly #stopAsking: () => void
  readonly #closeGraceMs: number
  readonly #idPrefix = randomBytes(6).toString('hex')
  #idCount = 0
  #closed: Promise<void> | undefined

  constructor({ bus, clock, presence, closeGraceMs = CLOSE_GRACE_MS }: RelayTransportOptions) {
    this.#bus = bus
    this.#clock = clock
    this.#closeGraceMs = closeGraceMs
    this.#presence = presence
    bus.on('reply', (text, from) => this.#replied(text, from))
    bus.on('checkpoint', (text, from) => this.#checkpointed(text, from))
    bus.on('alive', ids => {
      for (const id of ids.split(' ')) this.#underWay.get(id)?.heard()
    })
    bus.on('unknown', ids => {
      for (const id of ids.split(' ')) this.#underWay.get(id)?.unknown()
    })
    this.#stopAsking = repeatEvery(clock, ASK_EVERY_MS, () => this.#askAll())
  }

  invoke(call: InvokeCall): Promise<InvokeReply> {
    if (call.signal.aborted) return Promise.resolve({ kind: 'aborted' })
    const engine = this.#presence.engineOf(call.url)
    if (this.#closed || engine === undefined) {
      const message = this.#closed ? ENGINE_CLOSING : 'the runner is not connected'
      return Promise.resolve({ kind: 'refused', message })
    }
    const id = `${this.#idPrefix}${(++this.#idCount).toString(36)}`
    return new Promise(resolve => {
      const onReply = (reply: InvokeReply) => {
        this.#underWay.delete(id)
        if (reply.kind === 'refused' && reply.isFull) this.#presence.invokeRefused(engine, call.url)
        resolve(reply)
      }
      const sentAt = this.#clock.now()
      const relayed: RelayedCall = new RelayedCall({ id, engine, call, sentAt, bus: this.#bus, onReply })
      this.#underWay.add(id, relayed)
      relayed.send()
      this.#presence.invokeSent(engine, call.url)
    })
  }

  /** The engine is dead, or does not answer for its runners any more. */
  lost(engine: string): void {
    for (const call of this.#underWay.all())
      if (call.engine === engine) call.fail('the engine that has the runner fell silent')
  }

  close(): Promise<void> {
    this.#closed ??= this.#underWay.drain(this.#closeGraceMs).finally(() => this.#stopAsking())
    return this.#closed
  }

  #replied(text: string, from: string): void {
    const [head, body] = splitOnce(text, '\n')
    const [id, told] = splitOnce(head, ' ')
    // Also of a call that is over: it was told twice.
    this.#bus.publish('had', id, from)
    const reply = JSON.parse(told) as InvokeReply
    this.#underWay.get(id)?.end(reply.kind === 'answered' ? { ...reply, body } : reply)
  }

  #checkpointed(text: string, from: string): void {
    const [head, payload] = splitOnce(text, '\n')
    const [id, no] = splitOnce(head, ' ')
    const call = this.#underWay.get(id)
    if (call) void call.checkpoint(Number(no), payload)
    else this.#bus.publish('cancel', id, from)
  }

  #askAll(): void {
    const ids = new Map<string, string[]>()
    for (const call of this.#underWay.all()) {
      if (!call.ask()) {
        call.fail('nothing was heard of the call')
        continue
      }
      const list = ids.get(call.engine) ?? []
      list.push(call.id)
      ids.set(call.engine, list)
    }
    for (const [engine, list] of ids) this.#bus.publish('still', list.join(' '), engine)
  }
}
