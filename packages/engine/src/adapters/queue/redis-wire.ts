// Engines hear each other through a channel of Redis.

import { Redis } from 'ioredis'
import type { Wire } from './shared.ts'

const TIMEOUT_MS = 2000
const RETRY_MS_MAX = 2000

export interface RedisWireOptions {
  url: string
  /** Several clusters may share a Redis. */
  channel: string
  onTrouble(error: Error): void
}

export class RedisWire implements Wire {
  readonly #publisher: Redis
  readonly #subscriber: Redis
  readonly #channel: string

  constructor({ url, channel, onTrouble }: RedisWireOptions) {
    const options = {
      connectTimeout: TIMEOUT_MS,
      retryStrategy: (tries: number) => Math.min(RETRY_MS_MAX, 50 * 2 ** Math.min(tries, 6)),
    }
    this.#channel = channel
    this.#publisher = new Redis(url, { ...options, commandTimeout: TIMEOUT_MS, maxRetriesPerRequest: 1 })
    // It subscribes again by itself whenever it is back.
    this.#subscriber = new Redis(url, { ...options, maxRetriesPerRequest: null })
    for (const redis of [this.#publisher, this.#subscriber]) redis.on('error', onTrouble)
  }

  async listen(onWord: (word: string) => void, onBack: () => void): Promise<void> {
    this.#subscriber.on('message', (_, word) => onWord(word))
    await this.#subscriber.subscribe(this.#channel)
    this.#subscriber.on('ready', onBack)
  }

  async say(word: string): Promise<void> {
    await this.#publisher.publish(this.#channel, word).catch(() => {})
  }

  async ping(): Promise<void> {
    await this.#publisher.ping()
  }

  async close(): Promise<void> {
    this.#publisher.disconnect()
    this.#subscriber.disconnect()
  }
}
