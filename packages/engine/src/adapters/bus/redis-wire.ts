// The wire over Redis channels: one for all engines, and one for each. Opened by backends.

import { within } from '../../base/within.ts'
import { RedisConnection } from '../redis-connection.ts'
import { fetchLong, isLong, isReference, storeLong } from './redis-long-messages.ts'
import type { Wire } from './wire.ts'

/** An engine does not start when Redis does not answer within this time. */
const SUBSCRIBE_MS_MAX = 5000

export interface RedisWireOptions {
  url: string
  /** Several clusters may share a Redis. */
  channel: string
  /** Called when an open connection fails. If a connection cannot be opened, `listen` rejects instead. */
  onError(error: Error): void
}

export class RedisWire implements Wire {
  readonly #publisher: RedisConnection
  readonly #subscriber: RedisConnection
  readonly #channel: string
  #listens = false
  /** By channel: the last message that waits behind a long one which is being stored. */
  readonly #sending = new Map<string, Promise<unknown>>()
  /** The last received message that waits behind a long one which is being fetched. */
  #receiving: Promise<void> | undefined

  constructor({ url, channel, onError }: RedisWireOptions) {
    this.#channel = channel
    this.#publisher = new RedisConnection({ url })
    // The client subscribes again by itself after each reconnect.
    this.#subscriber = new RedisConnection({ url, subscribes: true })
    for (const redis of [this.#publisher, this.#subscriber]) {
      redis.on('error', error => {
        if (this.#listens) onError(error)
      })
    }
  }

  async listen(name: string, onMessage: (message: string) => void, onReconnect: () => void): Promise<void> {
    this.#subscriber.on('message', (_, text) => this.#receive(text, onMessage))
    const subscribing = this.#subscriber.subscribe(this.#channel, `${this.#channel}:${name}`)
    if (!(await within(SUBSCRIBE_MS_MAX, subscribing)))
      throw new Error(`Redis did not answer within ${SUBSCRIBE_MS_MAX} ms`)
    this.#listens = true
    this.#subscriber.on('ready', onReconnect)
  }

  async send(message: string, to?: string): Promise<void> {
    const channel = to === undefined ? this.#channel : `${this.#channel}:${to}`
    const before = this.#sending.get(channel)
    if (!before && !isLong(message)) {
      await this.#publish(channel, message)
      return
    }
    const sent = Promise.resolve(before)
      .then(() => (isLong(message) ? storeLong(this.#publisher, this.#channel, message) : message))
      .then(text => this.#publish(channel, text))
      .catch(() => {})
    this.#sending.set(channel, sent)
    await sent
    if (this.#sending.get(channel) === sent) this.#sending.delete(channel)
  }

  async ping(): Promise<void> {
    await this.#publisher.ping()
  }

  #publish(channel: string, text: string): Promise<unknown> {
    return this.#publisher.publish(channel, text).catch(() => {})
  }

  /** Keeps the order of messages: messages after a long one wait until it is fetched. */
  #receive(text: string, onMessage: (message: string) => void): void {
    if (!this.#receiving && !isReference(text)) {
      onMessage(text)
      return
    }
    const received = Promise.resolve(this.#receiving)
      .then(() => (isReference(text) ? fetchLong(this.#publisher, text) : text))
      .catch(() => undefined)
      .then(message => {
        if (this.#receiving === received) this.#receiving = undefined
        if (message !== undefined) onMessage(message)
      })
    this.#receiving = received
  }

  async close(): Promise<void> {
    this.#publisher.disconnect()
    this.#subscriber.disconnect()
  }
}
