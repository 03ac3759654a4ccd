// Shared by the tests of inbound webhooks: two namespaces with one key each, receivers, and posts signed as their providers sign
// them.

import type { WebhookReceiver } from '@perdure/protocol'
import { expect } from 'vitest'
import type { JumpClock } from '../engine/jump-clock.ts'
import type { Answer, Api } from '../http/api.ts'
import { unique } from '../temp.ts'
import { type Post, postWebhook } from './provider.ts'

/** A receiver as returned by its creation, with the secret. */
export type Created = WebhookReceiver & { secret: string }

export const INBOUND_KEY = 'secret-key-of-default-0123456789'
const OTHER_KEY = 'secret-key-of-other-0123456789'
export const INBOUND_KEYS = JSON.stringify([
  { label: 'here', namespace: 'default', kind: 'secret', key: INBOUND_KEY },
  { label: 'there', namespace: 'other', kind: 'secret', key: OTHER_KEY },
])

export class Inbound {
  readonly api: Api
  /** The same engine in the other namespace. */
  readonly there: Api
  readonly #open: Api
  readonly #clock: JumpClock
  #messages = 0

  constructor(open: Api, clock: JumpClock) {
    this.#open = open
    this.#clock = clock
    this.api = open.as(INBOUND_KEY)
    this.there = open.as(OTHER_KEY)
  }

  readonly receiver = async (fields: object = {}, as = this.api): Promise<Created> => {
    const answer = await as.post('/webhook-receivers', { eventName: unique('hook'), ...fields })
    expect(answer.status, answer.text).toBe(201)
    return answer.json as Created
  }

  /**
   * Posts the body as the receiver's provider would: signed now and as a new message, unless `options` say otherwise.
   */
  readonly post = (
    { scheme, secret, slug }: Created,
    body: string | Uint8Array,
    options: Partial<Post> & { headers?: Record<string, string> } = {},
  ): Promise<Answer> => {
    const { headers, ...given } = options
    const signed = { scheme, secret, body, at: this.#clock.now(), id: `msg_${++this.#messages}`, ...given }
    return postWebhook(this.#open, slug, signed, headers)
  }

  /** The event that the post became. */
  readonly eventOf = async (answer: Answer, as = this.api) => {
    expect(answer.status, answer.text).toBe(202)
    return as.event((answer.json as { eventId: string }).eventId)
  }

  readonly eventsNamed = async (name: string) => (await this.api.get(`/events?name=${name}`)).json as unknown[]
}
