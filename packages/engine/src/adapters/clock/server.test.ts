// The server's time counts, whatever this machine's clock shows.

import { expect, test } from 'vitest'
import { ServerClock } from './server.ts'
import { VirtualClock } from './virtual.ts'

const START = 1_800_000_000_000

test('returns the server’s time, and calls back at it', async () => {
  const local = new VirtualClock({ start: START })
  const clock = await ServerClock.follow({
    local,
    serverTime: async () => local.now() + 5000,
    onError: () => {},
  })
  expect(clock.now()).toBe(START + 5000)
  let calledAt = 0
  clock.at(START + 5100, () => {
    calledAt = local.now()
  })
  await local.advance(100)
  expect(calledAt).toBe(START + 100)
  clock.stop()
})

test('follows a server clock that is set, and keeps the last measurement when the server does not answer', async () => {
  const local = new VirtualClock({ start: START })
  let ahead: number | undefined = 10
  const errors: unknown[] = []
  const clock = await ServerClock.follow({
    local,
    serverTime: async () => {
      if (ahead === undefined) throw new Error('gone')
      return local.now() + ahead
    },
    onError: error => errors.push(error),
  })
  ahead = -3000
  await local.advance(30_000)
  expect(clock.now() - local.now()).toBe(-3000)
  ahead = undefined
  await local.advance(30_000)
  expect([clock.now() - local.now(), errors.length]).toEqual([-3000, 1])
  clock.stop()
  expect(local.nextTimer()).toBeUndefined()
})

test('uses the quickest of several answers', async () => {
  const local = new VirtualClock({ start: START })
  const delaysMs = [400, 90, 2, 300, 50]
  const clock = await ServerClock.follow({
    local,
    serverTime: async () => {
      const answer = local.now() + 1000
      await local.advance(delaysMs.shift() ?? 0)
      return answer
    },
    onError: () => {},
  })
  // The error is at most half of the two milliseconds.
  expect(Math.abs(clock.now() - local.now() - 1000)).toBeLessThanOrEqual(1)
  clock.stop()
})
