// Losses that belong together, and the suspects that may go to a runner at once.

import { pino } from 'pino'
import { expect, test } from 'vitest'
import { LoopbackNetwork } from '../../adapters/bus/loopback.testkit.ts'
import { VirtualClock } from '../../adapters/clock/virtual.ts'
import type { Suspicion } from '../../domain/model/run.ts'
import type { Runner } from '../../domain/model/workflow.ts'
import { Suspects, type SuspectsDeps } from './suspects.ts'

const RUNNER = { namespace: 'default', app: 'app', runnerId: 'r1' } as Runner
const OTHER = { ...RUNNER, runnerId: 'r2' }
const suspect = (id: string, atOnce: number, transportTries = 0) => {
  const suspicion: Suspicion = { losses: 1, atOnce, ranMs: 0, lostAt: 0 }
  return { id, transportTries, suspicion }
}

function open(
  underWay = 0,
  { clock = new VirtualClock(), bus }: Partial<Pick<SuspectsDeps, 'bus'> & { clock: VirtualClock }> = {},
) {
  const under = { way: underWay }
  const suspects = new Suspects({ clock, log: pino({ level: 'silent' }), underWay: () => under.way, bus })
  const lost = (isSuspect = false) => {
    under.way--
    return suspects.lost(RUNNER, isSuspect)
  }
  return { clock, suspects, lost }
}

test('a pass that was alone on its runner is known to be lost alone at once', async () => {
  const { lost } = open(1)
  expect(await lost()).toMatchObject({ together: 1, suspects: 0 })
})

test('passes that are lost one after the other are one loss, which is known with the last of them', async () => {
  const { lost } = open(3)
  const losses = [lost(true), lost(), lost()]
  for (const loss of losses) expect(await loss).toMatchObject({ together: 3, suspects: 1 })
})

test('a pass whose neighbours go on is lost alone, which is known after a moment', async () => {
  const { clock, lost } = open(3)
  const first = lost()
  await clock.advance(250)
  expect(await first).toMatchObject({ together: 1 })
  const second = lost()
  await clock.advance(250)
  expect(await second).toMatchObject({ together: 1 })
})

test('suspects are under way in groups as small as the smallest of them may be in', () => {
  const { suspects } = open()
  const [a] = ['a', 'b'].map(id => suspects.begin(RUNNER, suspect(id, 6)))
  expect(suspects.admits(RUNNER, suspect('c', 6))).toBe(true)
  expect(suspects.admits(RUNNER, suspect('c', 2))).toBe(false)
  expect(suspects.admits(OTHER, suspect('c', 1))).toBe(true)
  a?.end()
  expect(suspects.admits(RUNNER, suspect('c', 2))).toBe(true)
  suspects.begin(RUNNER, suspect('c', 2))
  expect(suspects.admits(RUNNER, suspect('d', 6))).toBe(false)
})

test('a suspect that goes on for longer than it ran before no longer keeps others away', async () => {
  const { clock, suspects } = open()
  suspects.begin(RUNNER, suspect('a', 1))
  await clock.advance(9999)
  expect(suspects.admits(RUNNER, suspect('b', 1))).toBe(false)
  await clock.advance(1)
  expect(suspects.admits(RUNNER, suspect('b', 1))).toBe(true)
})

test('those that have spent fewer tries go first, then those that have waited for much longer', async () => {
  const { clock, suspects } = open()
  suspects.wait([RUNNER], suspect('early', 1))
  await clock.advance(10_001)
  for (const one of [suspect('early', 1), suspect('spent', 1, 3)]) suspects.wait([RUNNER], one)
  expect(suspects.admits(RUNNER, suspect('late', 1))).toBe(false)
  expect(suspects.admits(RUNNER, suspect('early', 1))).toBe(true)
  suspects.begin(RUNNER, suspect('early', 1)).end()
  expect(suspects.admits(RUNNER, suspect('late', 1))).toBe(true)
  suspects.wait([RUNNER], suspect('late', 1))
  expect(suspects.admits(RUNNER, suspect('spent', 1, 3))).toBe(false)
})

test('a suspect that is no longer tried keeps no other away', async () => {
  const { clock, suspects } = open()
  const waitMs = suspects.wait([RUNNER], suspect('cancelled', 1))
  expect(suspects.admits(RUNNER, suspect('spent', 1, 3))).toBe(false)
  await clock.advance(waitMs + 501)
  expect(suspects.admits(RUNNER, suspect('spent', 1, 3))).toBe(true)
})

test('the more wait, the longer each does, up to 10 s', () => {
  const { suspects } = open()
  const waits = Array.from({ length: 1000 }, (_, i) => suspects.wait([RUNNER], suspect(`run_${i}`, 1)))
  expect([waits[0], waits[100], waits[999]]).toEqual([500, 2500, 10_000])
})

/** Two engines that send passes to the same runners. */
async function openTwo() {
  const clock = new VirtualClock()
  const network = new LoopbackNetwork(clock)
  const [a, b] = [open(1, { clock, bus: await network.open('a') }), open(1, { clock, bus: await network.open('b') })]
  return { clock, a, b }
}

test('passes that two engines lose in the same moment are one loss', async () => {
  const { clock, a, b } = await openTwo()
  const losses = [a.lost(true), b.lost(true)]
  await clock.advance(250)
  for (const loss of losses) expect(await loss).toMatchObject({ together: 2, suspects: 2 })
})

test('a pass that one engine loses while the other has none is lost alone', async () => {
  const { clock, a } = await openTwo()
  const loss = a.lost()
  await clock.advance(250)
  expect(await loss).toMatchObject({ together: 1 })
})

test('a suspect waits for that of another engine, until it ends or has gone on for longer than it ran before', async () => {
  const { clock, a, b } = await openTwo()
  const trial = a.suspects.begin(RUNNER, suspect('a', 1))
  await clock.advance(0)
  expect(b.suspects.admits(RUNNER, suspect('b', 1))).toBe(false)
  trial.end()
  await clock.advance(0)
  expect(b.suspects.admits(RUNNER, suspect('b', 1))).toBe(true)
  a.suspects.begin(RUNNER, suspect('a', 1))
  await clock.advance(10_000)
  expect(b.suspects.admits(RUNNER, suspect('b', 1))).toBe(true)
})
