// Messages too long for a Redis channel, which disconnects a subscriber when 32 MiB wait for it. A long message waits in a list,
// in parts; its receiver gets a reference to the list. Used by redis-wire.ts.

import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'

/** Longer messages are not published. */
const PUBLISHED_LENGTH_MAX = 2 * 1024 * 1024
/** Small enough to be sent within the command timeout even over a slow connection. */
const PART_BYTES = 1024 * 1024
/** A message that was not fetched within this time is dropped. */
const EXPIRE_AFTER_S = 60

const REFERENCE_MARK = '@'

export const isLong = (message: string): boolean => message.length > PUBLISHED_LENGTH_MAX

export const isReference = (text: string): boolean => text.startsWith(REFERENCE_MARK)

/** Stores a long message of the channel; resolves to the reference to publish in its place. */
export async function storeLong(redis: Redis, channel: string, message: string): Promise<string> {
  const bytes = Buffer.from(message)
  const key = `${channel}:word:${randomUUID()}`
  for (let at = 0; at < bytes.length; at += PART_BYTES) {
    await redis.rpush(key, bytes.subarray(at, at + PART_BYTES))
    await redis.expire(key, EXPIRE_AFTER_S)
  }
  return `${REFERENCE_MARK}${bytes.length} ${key}`
}

/** Takes the message out of Redis; undefined when a part of it has expired. */
export async function fetchLong(redis: Redis, reference: string): Promise<string | undefined> {
  const [length, key] = reference.slice(REFERENCE_MARK.length).split(' ') as [string, string]
  const parts: Buffer[] = []
  for (;;) {
    const part = await redis.lpopBuffer(key)
    if (!part) break
    parts.push(part)
  }
  const bytes = Buffer.concat(parts)
  return bytes.length === Number(length) ? bytes.toString() : undefined
}
