// The receiver of the webhooks. It records every post, and fails as often as the faults require.

import type { SendCall, Sender, SendReply } from '../../../packages/engine/src/ports/sender.ts'
import type { Faults } from '../core/faults.ts'
import type { SimClock } from '../core/sim-clock.ts'
import { type Life, never } from './life.ts'

/** One post, as it arrived. */
export interface Post {
  deliveryId: string
  body: string
  at: number
  reply: SendReply
}

export interface SimSenderDeps {
  clock: SimClock
  faults: Faults
  life: Life
  posts: Post[]
}

export class SimSender implements Sender {
  readonly #deps: SimSenderDeps

  constructor(deps: SimSenderDeps) {
    this.#deps = deps
  }

  async send(call: SendCall): Promise<SendReply> {
    const { clock, life, posts } = this.#deps
    clock.activity.sign()
    if (!life.alive) return never()
    const sentAt = clock.now()
    const reply = this.#reply(call.timeoutMs)
    const durationMs = 'durationMs' in reply ? reply.durationMs : 0
    posts.push({ deliveryId: call.headers['webhook-id'] ?? '', body: call.body, at: sentAt, reply })
    await clock.wait(durationMs)
    clock.activity.sign()
    return life.dead ? never() : reply
  }

  async close(): Promise<void> {}

  #reply(timeoutMs: number): SendReply {
    const { faults } = this.#deps
    const stream = faults.stream('sendFails')
    const durationMs = stream.int(1, 200)
    const answered = (status: number): SendReply => ({
      kind: 'answered',
      status,
      responseSnippet: '',
      durationMs,
    })
    if (!faults.strikes('sendFails')) return answered(204)
    switch (stream.weighted({ serverError: 4, refusal: 1, timeout: 1, connection: 2, refusedAddress: 0.3 })) {
      case 'serverError':
        return answered(stream.pick([500, 503, 429]))
      case 'refusal':
        return answered(stream.pick([400, 404, 410]))
      case 'timeout':
        return { kind: 'timeout', error: 'timeout', durationMs: timeoutMs }
      case 'connection':
        return { kind: 'connectionError', error: 'reset', durationMs }
      case 'refusedAddress':
        return { kind: 'refusedAddress', error: 'private' }
    }
  }
}
