import { expect, test } from 'vitest'
import { attemptPlan } from './attempt-plan.ts'

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()
const attempt = (n: number, second: number) => ({
  id: `att_${n}`,
  attempt: n,
  outcome: 'http_error' as const,
  durationMs: 5,
  createdAt: at(second),
})

test('attempts have the pauses before them, then come the next one and those that are left', () => {
  const attempts = [attempt(1, 0), attempt(2, 5)]
  const plan = attemptPlan({ attempts, attemptCount: 2, maxAttempts: 8, nextAttemptAt: at(35) })
  expect(plan.made.map(({ pauseMs }) => pauseMs)).toEqual([undefined, 5000])
  expect(plan).toMatchObject({ next: { at: at(35), pauseMs: 30_000 }, left: 5 })
})

test('without a next attempt nothing is left; one that was never tried has the next one alone', () => {
  expect(attemptPlan({ attempts: [attempt(1, 0)], attemptCount: 1, maxAttempts: 8 })).toMatchObject({
    next: undefined,
    left: 0,
  })
  expect(attemptPlan({ attempts: [], attemptCount: 0, maxAttempts: 1, nextAttemptAt: at(0) })).toEqual({
    made: [],
    next: { at: at(0), pauseMs: undefined },
    left: 0,
  })
})
