// Engines hear each other through channels of Redis: one for all, one for each.

import { Redis } from 'ioredis'
import { RedisWords } from './redis-long-messages.ts'
import type { Wire } from './wire.ts'

const TIMEOUT_MS = 2000
const RETRY_MS_MAX = 2000
/** A Redis that cannot be reached at the start stops the start. */
const START_MS_MAX = 5000

export interface RedisWireOptions {
  url: string
  /** Several clusters may share a Redis. */
  channel: string
  /** Told when one that was there fails; that there is none is what `listen` rejects for. */
  onTrouble(error: Error): void
}

export class RedisWire implements Wire {
  readonly #publisher: Redis
  readonly #subscriber: Redis
  readonly #channel: string
  readonly #words: RedisWords
  #listens = false
  /** By listener: the last of the words that are on their way to it behind a long one. */
  readonly #saying = new Map<string, Promise<unknown>>()
  /** What was heard behind a long word is told after it. */
  #hearing: Promise<void> | undefined

  constructor({ url, channel, onTrouble }: RedisWireOptions) {
    const options = {
      connectTimeout: TIMEOUT_MS,
      retryStrategy: (tries: number) => Math.min(RETRY_MS_MAX, 50 * 2 ** Math.min(tries, 6)),
    }
    this.#channel = channel
    this.#publisher = new Redis(url, { ...options, commandTimeout: TIMEOUT_MS, maxRetriesPerRequest: 1 })
    // It subscribes again by itself whenever it is back.
    this.#subscriber = new Redis(url, { ...options, maxRetriesPerRequest: null })
    this.#words = new RedisWords(this.#publisher, channel)
    for (const redis of [this.#publisher, this.#subscriber]) {
      redis.on('error', error => {
        if (this.#listens) onTrouble(error)
      })
    }
  }

  async listen(name: string, onWord: (word: string) => void, onBack: () => void): Promise<void> {
    this.#subscriber.on('message', (_, word) => this.#hear(word, onWord))
    await inTime(this.#subscriber.subscribe(this.#channel, `${this.#channel}:${name}`))
    this.#listens = true
    this.#subscriber.on('ready', onBack)
  }

  async say(word: string, to?: string): Promise<void> {
    const channel = to === undefined ? this.#channel : `${this.#channel}:${to}`
    const before = this.#saying.get(channel)
    if (!before && !this.#words.isLong(word)) {
      await this.#publish(channel, word)
      return
    }
    const said = Promise.resolve(before)
      .then(async () =>
        this.#publish(channel, this.#words.isLong(word) ? await this.#words.keep(word) : word),
      )
      .catch(() => {})
    this.#saying.set(channel, said)
    await said
    if (this.#saying.get(channel) === said) this.#saying.delete(channel)
  }

  async ping(): Promise<void> {
    await this.#publisher.ping()
  }

  #publish(channel: string, word: string): Promise<unknown> {
    return this.#publisher.publish(channel, word).catch(() => {})
  }

  #hear(text: string, onWord: (word: string) => void): void {
    if (!this.#hearing && !this.#words.isPlace(text)) {
      onWord(text)
      return
    }
    const heard = Promise.resolve(this.#hearing)
      .then(() => (this.#words.isPlace(text) ? this.#words.fetch(text) : text))
      .catch(() => undefined)
      .then(word => {
        if (this.#hearing === heard) this.#hearing = undefined
        if (word !== undefined) onWord(word)
      })
    this.#hearing = heard
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
