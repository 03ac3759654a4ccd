// The limiter in Redis: the contract, and two engines that share a key.

import { expect, test } from 'vitest'
import { RedisLimiter } from '../../../packages/engine/src/adapters/limiter/redis.ts'
import { REDIS_URL, redisPrefix } from '../../kit/servers/redis.ts'
import { limiterContract } from './limiter-contract.ts'

const open = (prefix: string) =>
  RedisLimiter.open({
    url: REDIS_URL,
    prefix,
    onError: error => {
      throw error
    },
  })

limiterContract('Redis', async () => open(redisPrefix()))

test('two engines share what a key admits', async () => {
  const prefix = redisPrefix()
  const [one, two] = [await open(prefix), await open(prefix)]
  const quota = { key: 'k', limit: 3, periodMs: 1000, now: 1_764_000_000_000 }
  const answers = await Promise.all([one, two, one, two, one].map(limiter => limiter.take(quota)))
  expect(answers.filter(Boolean)).toHaveLength(3)
  expect([await one.peek(quota), await two.peek({ ...quota, now: quota.now + 1000 })]).toEqual([false, true])
  await Promise.all([one.close(), two.close()])
})
