// The server's time counts, whatever this machine's clock shows.

import { expect, onTestFinished, test } from 'vitest'
import { ServerClock } from './server.ts'
import { VirtualClock } from './virtual.ts'

const START = 1_800_000_000_000

test('returns the server’s time, and calls back at it', async () => {
  const local = new VirtualClock({ start: START })
  const clock = await ServerClock.follow({
    local,
    serverTime: async () => START + 5000 + local.elapsed(),
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
      return START + local.elapsed() + ahead
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

const HOUR_MS = 3_600_000

/** A clock that follows a server whose clock nobody sets; `measured` counts the requests. */
async function followed(options: { sleptMs?: () => number } = {}) {
  const local = new VirtualClock({ start: START + HOUR_MS })
  const server = () => START + local.elapsed() + (options.sleptMs?.() ?? 0)
  const requests = { count: 0 }
  const serverTime = async () => {
    requests.count++
    return server()
  }
  const clock = await ServerClock.follow({ local, serverTime, onError: () => {} })
  onTestFinished(() => clock.stop())
  return { local, clock, server, requests }
}

test('a local wall clock that is set has no effect, and is followed by another measurement within a second', async () => {
  const { local, clock, server, requests } = await followed()
  let timer = 0
  clock.at(START + 600_000, () => {
    timer = server()
  })
  for (const set of [HOUR_MS, -HOUR_MS, 5 * HOUR_MS, -3000]) {
    const before = requests.count
    local.setWall(local.now() + set)
    expect(clock.now()).toBe(server())
    await local.advance(1000)
    expect(clock.now()).toBe(server())
    expect(requests.count).toBeGreaterThan(before)
  }
  await local.advance(590_000)
  expect(timer).toBe(0)
  await local.advance(10_000)
  expect(timer).toBe(START + 600_000)
})

test('a machine that slept, while its monotonic clock stood still, measures within a second', async () => {
  let sleptMs = 0
  const { local, clock, server } = await followed({ sleptMs: () => sleptMs })
  sleptMs = 8 * HOUR_MS
  local.setWall(local.now() + sleptMs)
  await local.advance(1000)
  expect(clock.now()).toBe(server())
})

test('a process that was frozen measures at once', async () => {
  const { local, requests } = await followed()
  const before = requests.count
  local.leapTo(local.now() + 10_000)
  await local.advance(0)
  expect(requests.count).toBeGreaterThan(before)
})

test('a timer that is set before the server’s clock is set back does not fire early', async () => {
  let aheadMs = 0
  const { local, clock, server } = await followed({ sleptMs: () => aheadMs })
  let firedAt = 0
  clock.at(START + 40_000, () => {
    firedAt = server()
  })
  aheadMs = -20_000
  await local.advance(59_000)
  expect(firedAt).toBe(0)
  await local.advance(2000)
  expect(firedAt).toBe(START + 40_000)
})
