// The limiter in memory: the contract, and bounded memory.

import { expect, it } from 'vitest'
import { MemoryLimiter } from '../../../packages/engine/src/adapters/limiter/memory.ts'
import { limiterContract } from './limiter-contract.ts'

limiterContract('memory', async () => new MemoryLimiter())

const quota = (key: string, now: number) => ({ key, limit: 1, periodMs: 1000, now })

it('has no ping, as it uses no network', () => {
  expect(new MemoryLimiter()).not.toHaveProperty('ping')
})

it('removes idle keys while others are used', async () => {
  const limiter = new MemoryLimiter()
  for (let i = 0; i < 1000; i++) {
    await limiter.take(quota(`old ${i}`, 0))
    await limiter.start({ ...quota(`old ${i}`, 0), burst: 0, take: true })
  }
  for (let i = 0; i < 1000; i++) {
    await limiter.take(quota('busy', 1000 + i))
    await limiter.start({ ...quota('busy', 1001 + 1000 * i), burst: 0, take: true })
  }
  expect(limiter.entries).toBeLessThan(10)
})

it('removes the key used longest ago when it is full, and then admits it again', async () => {
  const limiter = new MemoryLimiter({ entriesMax: 20 })
  for (let i = 0; i < 100; i++) {
    await limiter.take(quota(`key ${i}`, 0))
    expect(limiter.entries).toBeLessThanOrEqual(20)
  }
  expect(await limiter.take(quota('key 99', 1))).toBe(false)
  expect(await limiter.take(quota('key 0', 1))).toBe(true)
})

it('keeps no more takes than the window needs', async () => {
  const limiter = new MemoryLimiter()
  for (let now = 0; now < 5000; now++) await limiter.take({ key: 'a', limit: 10, periodMs: 10, now })
  expect(limiter.entries).toBeLessThanOrEqual(25)
})
