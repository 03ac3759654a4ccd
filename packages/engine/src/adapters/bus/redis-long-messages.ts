// Words too long to be published: Redis cuts a subscriber off when 32 MiB wait for it. They wait in a list, in parts, for
// the one that they are for; what is published says where.

import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'

/** Longer words are not published. */
const WORD_LENGTH_MAX = 2 * 1024 * 1024
/** Each part in good time, also on a slow line. */
const PART_BYTES = 1024 * 1024
/** What nobody fetched by then never will be. */
const FORGET_AFTER_S = 60

const MARK = '@'

export class RedisWords {
  readonly #redis: Redis
  readonly #prefix: string

  constructor(redis: Redis, channel: string) {
    this.#redis = redis
    this.#prefix = `${channel}:word:`
  }

  isLong(word: string): boolean {
    return word.length > WORD_LENGTH_MAX
  }

  /** Whether it says where a word waits. */
  isPlace(text: string): boolean {
    return text.startsWith(MARK)
  }

  /** Where it waits. */
  async keep(word: string): Promise<string> {
    const bytes = Buffer.from(word)
    const key = this.#prefix + randomUUID()
    for (let at = 0; at < bytes.length; at += PART_BYTES) {
      await this.#redis.rpush(key, bytes.subarray(at, at + PART_BYTES))
      await this.#redis.expire(key, FORGET_AFTER_S)
    }
    return `${MARK}${bytes.length} ${key}`
  }

  /** Undefined when not all of it is there any more. */
  async fetch(place: string): Promise<string | undefined> {
    const [length, key] = place.slice(MARK.length).split(' ') as [string, string]
    const parts: Buffer[] = []
    for (;;) {
      const part = await this.#redis.lpopBuffer(key)
      if (!part) break
      parts.push(part)
    }
    const bytes = Buffer.concat(parts)
    return bytes.length === Number(length) ? bytes.toString() : undefined
  }
}
