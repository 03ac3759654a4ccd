import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backoffMs, completeRetry, DEFAULT_RETRY, holdMs, transportBackoffMs } from './retry.ts'

const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

describe('a retry policy', () => {
  it('has every default: 5 attempts, 1 s, doubled, at most 5 min, jitter 20 %', () => {
    expect(completeRetry(undefined)).toEqual({
      maxAttempts: 5,
      initialMs: 1000,
      factor: 2,
      maxMs: 300_000,
      jitter: 0.2,
    })
  })

  it('takes over what was registered', () => {
    expect(completeRetry({ maxAttempts: 2, jitter: 0 })).toEqual({
      ...DEFAULT_RETRY,
      maxAttempts: 2,
      jitter: 0,
    })
  })
})

describe('backoff', () => {
  it('doubles from 1 s and stops at 5 min', () => {
    const delays = [1, 2, 3, 9, 10, 500].map(failed => backoffMs(DEFAULT_RETRY, failed, 0.5))
    expect(delays).toEqual([1000, 2000, 4000, 256_000, 300_000, 300_000])
  })

  it('is a whole number of ms within the most, for every policy that can be registered', () => {
    const policy = fc.record({
      initialMs: fc.double({ min: 0, max: 86_400_000, noNaN: true }),
      factor: fc.double({ min: 1, max: 100, noNaN: true }),
      maxMs: fc.integer({ min: 0, max: 604_800_000 }),
      jitter: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    fc.assert(
      fc.property(policy, fc.integer({ min: 1, max: 1000 }), random, (policy, failed, chance) => {
        const delay = backoffMs(policy, failed, chance)
        expect(Number.isInteger(delay)).toBe(true)
        expect(delay).toBeGreaterThanOrEqual(0)
        expect(delay).toBeLessThanOrEqual(policy.maxMs)
      }),
      { examples: [[{ initialMs: 0, factor: 100, maxMs: 1000, jitter: 0 }, 999, 0.5]] },
    )
  })

  it('of the transport doubles from 0.5 s and is at most 30 s', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7].map(failures => transportBackoffMs(failures, 0.5))
    expect(delays).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000])
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), random, (failures, chance) => {
        expect(transportBackoffMs(failures, chance)).toBeLessThanOrEqual(30_000)
      }),
    )
  })
})

it('a run without a runner is held for half its age, between 1 s and 30 s', () => {
  expect([0, 1999, 10_000, 60_000, 90_000_000].map(holdMs)).toEqual([1000, 1000, 5000, 30_000, 30_000])
})
