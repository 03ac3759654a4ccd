import { describe, expect, it } from 'vitest'
import { runStats } from './run-stats.ts'

const none = { queued: 0, running: 0, waiting: 0, paused: 0, succeeded: 0, failed: 0, cancelled: 0 }

describe('run stats', () => {
  it('count every run in the total, and queued, running and waiting ones as active', () => {
    const counts = { queued: 1, running: 2, waiting: 4, paused: 8, succeeded: 16, failed: 32, cancelled: 64 }
    expect(runStats(counts)).toEqual({
      total: 127,
      active: 7,
      succeeded: 16,
      failed: 32,
      successRate: 33,
      failedRate: 66.67,
    })
  })

  it.each([
    [0, 0, 100, 0],
    [1, 0, 100, 0],
    [0, 1, 0, 100],
    [1, 1, 50, 50],
    [2, 1, 67, 33.33],
    [1, 2, 33, 66.67],
    [1, 7, 13, 87.5],
    [999, 1, 100, 0.1],
    [1, 999, 0, 99.9],
    [1_000_000, 1, 100, 0.01],
    [1, 1_000_000, 0, 99.99],
  ])(
    '%i succeeded and %i failed are %i percent, and %d percent failed',
    (succeeded, failed, successRate, failedRate) => {
      expect(runStats({ ...none, succeeded, failed, paused: 5, cancelled: 5 })).toMatchObject({
        successRate,
        failedRate,
      })
    },
  )
})
