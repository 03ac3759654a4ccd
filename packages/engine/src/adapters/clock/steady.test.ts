// A clock that runs evenly: when the wall clock was set, it follows only after the stored times have been moved.

import { expect, onTestFinished, test } from 'vitest'
import { SteadyClock } from './steady.ts'
import { VirtualClock } from './virtual.ts'

const START = 1_800_000_000_000
const HOUR_MS = 3_600_000

function open() {
  const local = new VirtualClock({ start: START })
  const machine = { sleptMs: 0 }
  const moves: { by: number; done: () => void; fail: () => void }[] = []
  const moved: number[] = []
  let failures = 0
  const clock = new SteadyClock({
    local,
    sleptMs: () => machine.sleptMs,
    moveTimes: by =>
      new Promise((resolve, reject) =>
        moves.push({ by, done: resolve, fail: () => reject(new Error('the disk is full')) }),
      ),
    onMoved: by => moved.push(by),
    onError: () => failures++,
  })
  onTestFinished(() => clock.stop())
  return { local, machine, clock, moves, moved, failures: () => failures }
}

const settled = () => new Promise(resolve => setImmediate(resolve))

test.each([-HOUR_MS, HOUR_MS, -30_000])('runs on until the times are moved, by %i ms', async by => {
  const { local, clock, moves, moved } = open()
  local.setWall(START + by)
  expect(clock.now()).toBe(START)
  await local.advance(10)
  expect([clock.now(), moves.length, moves[0]?.by]).toEqual([START + 10, 1, by])
  moves[0]?.done()
  await settled()
  expect([clock.now(), moved]).toEqual([START + 10 + by, [by]])
})

test('tries again when the times could not be moved', async () => {
  const { local, clock, moves, failures } = open()
  local.setWall(START - HOUR_MS)
  clock.now()
  moves[0]?.fail()
  await settled()
  expect([clock.now(), failures()]).toEqual([START, 1])
  await local.advance(5000)
  expect(moves).toHaveLength(2)
  moves[1]?.done()
  await settled()
  expect(clock.now()).toBe(START + 5000 - HOUR_MS)
})

test('follows a small correction, and a machine that slept, at once', () => {
  const { local, machine, clock, moves, moved } = open()
  local.setWall(START - 900)
  expect(clock.now()).toBe(START - 900)
  machine.sleptMs = 8 * HOUR_MS
  local.setWall(START - 900 + 8 * HOUR_MS)
  expect(clock.now()).toBe(START - 900 + 8 * HOUR_MS)
  expect([moves, moved]).toEqual([[], [8 * HOUR_MS]])
})

test('fires no timer before its time, nor late after a move', async () => {
  const { local, clock, moves } = open()
  const fired: number[] = []
  clock.at(START + 30_000, () => fired.push(clock.now()))
  local.setWall(START - 20_000)
  clock.now()
  moves[0]?.done()
  await settled()
  await local.advance(49_999)
  expect(fired).toEqual([])
  await local.advance(1)
  expect(fired).toEqual([START + 30_000])
})
