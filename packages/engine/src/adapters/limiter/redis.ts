// The limiter that several engines share. The state of each key is in Redis, and each call is one script in one round trip, so
// concurrent calls of engines are serialised. A key that Redis lost is admitted as if nothing had been taken.

import { lateMs, type Start } from '../../domain/holds/throttle.ts'
import { EngineError } from '../../domain/model/errors.ts'
import { type Limiter, type Quota, SET_BACK_MS, type StartQuota } from '../../ports/limiter.ts'
import { RedisConnection } from '../redis-connection.ts'

/**
 * A sliding window as a sorted set of takes, each with its time as the score. KEYS: the window. ARGV: now, limit, period,
 * 1 to take. Returns 1 when admitted. Times do not run backwards; a counter in their names makes the members unique.
 */
const WINDOW = `
local newest = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2]
local now = tonumber(ARGV[1])
if newest and tonumber(newest) - now > ${SET_BACK_MS} then
  redis.call('DEL', KEYS[1])
  newest = nil
end
if newest and tonumber(newest) > now then now = tonumber(newest) end
local period = tonumber(ARGV[3])
if ARGV[4] == '0' then
  return redis.call('ZCOUNT', KEYS[1], '(' .. (now - period), '+inf') < tonumber(ARGV[2]) and 1 or 0
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - period)
local taken = redis.call('ZCARD', KEYS[1])
if taken >= tonumber(ARGV[2]) then return 0 end
local last = redis.call('ZRANGE', KEYS[1], -1, -1)[1]
local n = last and tonumber(string.sub(last, -9)) + 1 or 0
redis.call('ZADD', KEYS[1], now, string.format('%013.0f%09d', now, n % 1000000000))
redis.call('PEXPIRE', KEYS[1], math.ceil(period) + 1000)
return 1`

/**
 * The time at which the next start would be free without a burst (GCRA). KEYS: the start. ARGV: now, spacing, burst, how
 * late a start may be, 1 to take. Returns 1 when taken, and when the next start is free.
 */
const START = `
local now = tonumber(ARGV[1])
local spacing = tonumber(ARGV[2])
local late = tonumber(ARGV[4])
local due = tonumber(redis.call('GET', KEYS[1]) or '0')
if due > now + (tonumber(ARGV[3]) + 1) * spacing + ${SET_BACK_MS} then due = 0 end
if due <= now - late then due = now end
local free = due - tonumber(ARGV[3]) * spacing
if ARGV[5] == '0' or free > now then return {0, string.format('%.6f', free)} end
due = due + spacing
redis.call('SET', KEYS[1], string.format('%.6f', due), 'PX', math.ceil(math.max(due - now, 1) + late) + 60000)
return {1, string.format('%.6f', free + spacing)}`

interface Scripts extends RedisConnection {
  perdureWindow(key: string, ...args: number[]): Promise<0 | 1>
  perdureStart(key: string, ...args: number[]): Promise<[taken: 0 | 1, freeAt: string]>
}

export interface RedisLimiterOptions {
  url: string
  /** The prefix of every key: several clusters may share a Redis. */
  prefix?: string
  /** Called when an open connection fails. */
  onError(error: Error): void
}

export class RedisLimiter implements Limiter {
  readonly #redis: Scripts
  readonly #prefix: string
  #isOpen = false

  private constructor({ url, prefix = 'perdure:', onError }: RedisLimiterOptions) {
    this.#prefix = `${prefix}limit:`
    const redis = new RedisConnection({ url })
    redis.on('error', error => {
      if (this.#isOpen) onError(error)
    })
    redis.defineCommand('perdureWindow', { numberOfKeys: 1, lua: WINDOW })
    redis.defineCommand('perdureStart', { numberOfKeys: 1, lua: START })
    this.#redis = redis as Scripts
  }

  /** Rejects when Redis cannot be reached. */
  static async open(options: RedisLimiterOptions): Promise<RedisLimiter> {
    const limiter = new RedisLimiter(options)
    try {
      await limiter.ping()
      limiter.#isOpen = true
    } catch (error) {
      await limiter.close()
      throw error
    }
    return limiter
  }

  take(quota: Quota): Promise<boolean> {
    return this.#window(quota, 1)
  }

  peek(quota: Quota): Promise<boolean> {
    return this.#window(quota, 0)
  }

  /** The key differs from the key of versions that reserved starts: their reservations would delay every start. */
  async start({ key, limit, periodMs, burst, take, now }: StartQuota): Promise<Start> {
    const spacing = periodMs / limit
    const [taken, freeAt] = await this.#answerOf(
      this.#redis.perdureStart(`${this.#prefix}t:${key}`, now, spacing, burst, lateMs(spacing), take ? 1 : 0),
    )
    return { taken: taken === 1, freeAt: Number(freeAt) }
  }

  async ping(): Promise<void> {
    await this.#answerOf(this.#redis.ping())
  }

  async close(): Promise<void> {
    this.#redis.disconnect()
  }

  async #window({ key, limit, periodMs, now }: Quota, take: 0 | 1): Promise<boolean> {
    const window = `${this.#prefix}w:${key}`
    return (await this.#answerOf(this.#redis.perdureWindow(window, now, limit, periodMs, take))) === 1
  }

  async #answerOf<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer
    } catch (cause) {
      throw new EngineError('unavailable', 'The limiter does not answer.', { cause })
    }
  }
}
