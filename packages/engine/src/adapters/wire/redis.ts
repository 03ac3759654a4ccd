// Engines hear each other through channels of Redis: one for all, one for each.

import { Redis } from 'ioredis'
import type { Wire } from './wire.ts'

const TIMEOUT_MS = 2000
const RETRY_MS_MAX = 2000
/** A Redis that cannot be reached at the start stops the start. */
const START_MS_MAX = 5000

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

  async listen(name: string, onWord: (word: string) => void, onBack: () => void): Promise<void> {
    this.#subscriber.on('message', (_, word) => onWord(word))
    await inTime(this.#subscriber.subscribe(this.#channel, `${this.#channel}:${name}`))
    this.#subscriber.on('ready', onBack)
  }

  async say(word: string, to?: string): Promise<void> {
    await this.#publisher
      .publish(to === undefined ? this.#channel : `${this.#channel}:${to}`, word)
      .catch(() => {})
  }

  async ping(): Promise<void> {
    await this.#publisher.ping()
  }

  async close(): Promise<void> {
    this.#publisher.disconnect()
    this.#subscriber.disconnect()
  }
}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`Redis did not answer within ${START_MS_MAX} ms`)),
      START_MS_MAX,
    )
  })
  return Promise.race([answer, late]).finally(() => clearTimeout(timer))
}
