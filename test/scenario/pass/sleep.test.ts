// Sleep and SleepUntil: no timer fires early and none is lost (docs/promises.md#timers).

import { describe, expect, test } from 'vitest'
import {
  discovered,
  flow,
  opcode,
  openEngine,
  returned,
  run,
  scenario,
  sleep,
  step,
  stepId,
  unique,
  wait,
  waitsFor,
  wakesAt,
} from '../../kit/index.ts'

const DAY_MS = 86_400_000
const { api, barrier, clock, engine, start } = await scenario()

describe('Sleep', () => {
  test('the engine resolves the wake time when it persists the sleep', async () => {
    const { runId, record } = await start(flow([sleep('nap', 60_000)]))
    const parked = await waitsFor(api, runId, 'sleep')
    const until = new Date(clock.now() + 60_000).toISOString()
    expect(parked).toMatchObject({ status: 'waiting', waitingFor: { kind: 'sleep', stepName: 'nap', until } })
    expect(await api.step(runId, 'nap')).toMatchObject({ op: 'Sleep', status: 'waiting', wakeAt: until })
    clock.jump(60_000)
    await api.succeeded(runId)
    expect(record.of(runId)[1]?.steps[stepId('nap')]).toHaveProperty('data')
    expect(await api.step(runId, 'nap')).toMatchObject({ status: 'succeeded', durationMs: 60_000 })
  })

  test('a sleep of 30 days wakes then and not a millisecond earlier (past 24.8 days)', async () => {
    const { runId, record } = await start(flow([sleep('long', 30 * DAY_MS), run('after')]))
    const wakes = wakesAt(await waitsFor(api, runId, 'sleep'))
    expect(wakes).toBe(clock.now() + 30 * DAY_MS)
    for (const at of [wakes - 5 * DAY_MS, wakes - 1]) {
      clock.jumpTo(at)
      await barrier()
      expect(record.passes(runId)).toBe(1)
    }
    clock.jumpTo(wakes)
    await api.succeeded(runId)
    expect(record.names(runId)).toEqual(['long', 'after'])
  })

  test('a sibling that wakes the run a moment before does not end the sleep early', async () => {
    const [name, lift] = [unique('sleeper'), unique('lift')]
    const stage = [sleep('nap', 60_000), wait('lift', lift)]
    const { record } = await engine.runner({ workflows: { [name]: flow([stage]) } })
    const { runId } = await api.send({ name })
    const wakes = wakesAt(await waitsFor(api, runId, 'sleep'))
    clock.jumpTo(wakes - 1)
    await api.send({ name: lift })
    await barrier()
    expect(record.of(runId)[1]?.steps[stepId('nap')]).toEqual({ pending: true })
    clock.jumpTo(wakes)
    await api.succeeded(runId)
  })

  test('a sleep of 0 ms ends at once', async () => {
    const { runId } = await start(flow([sleep('blink', 0), run('after')]))
    await api.succeeded(runId)
  })

  test('a fraction of a millisecond is never early', async () => {
    const { runId } = await start(flow([sleep('odd', 1000.4)]))
    expect(wakesAt(await waitsFor(api, runId, 'sleep')) - clock.now()).toBeGreaterThanOrEqual(1000.4)
  })

  test('repeating the opcode does not lengthen the sleep ("idempotent across passes")', async () => {
    const [name, lift] = [unique('repeater'), unique('lift')]
    const nap = opcode('Sleep', 'nap', { sleepMs: 60_000 })
    await engine.runner({
      workflows: {
        [name]: ({ pass, steps }) => {
          if (steps[stepId('nap')]?.data !== undefined) return returned()
          return discovered(
            pass === 1 ? [nap, opcode('WaitForEvent', 'w', { eventName: lift, timeoutMs: 1e9 })] : [nap],
          )
        },
      },
    })
    const { runId } = await api.send({ name })
    const wakes = wakesAt(await waitsFor(api, runId, 'sleep'))
    clock.jump(30_000)
    await api.send({ name: lift })
    await barrier()
    expect(wakesAt(await waitsFor(api, runId, 'sleep'))).toBe(wakes)
    clock.jumpTo(wakes)
    await api.succeeded(runId)
  })
})

describe('SleepUntil', () => {
  test('is stored verbatim as the deadline', async () => {
    const at = clock.now() + 7 * DAY_MS
    const { runId, record } = await start(flow([step('SleepUntil', 'until', { sleepUntilMs: at })]))
    expect(wakesAt(await waitsFor(api, runId, 'sleep'))).toBe(at)
    expect(await api.step(runId, 'until')).toMatchObject({
      op: 'SleepUntil',
      wakeAt: new Date(at).toISOString(),
    })
    clock.jumpTo(at - 1)
    await barrier()
    expect(record.passes(runId)).toBe(1)
    clock.jumpTo(at)
    await api.succeeded(runId)
  })

  test.each([1, 0, -5_000])('a target in the past (%i) wakes on the next cycle', async sleepUntilMs => {
    const { runId, record } = await start(flow([step('SleepUntil', 'past', { sleepUntilMs }), run('after')]))
    await api.succeeded(runId)
    expect(record.times(runId, 'after')).toBe(1)
  })
})

test('over a restart no timer is lost: one that ended meanwhile is over, the other keeps its time', async () => {
  const first = await openEngine({ onDisk: true, clock })
  const name = unique('sleeper')
  const handler = flow([step('Sleep', 'nap', ({ event }) => ({ sleepMs: event.data })), run('after')])
  const runner = await first.runner({ workflows: { [name]: handler } })
  const { runId: short } = await first.api.send({ name, data: DAY_MS })
  const { runId: long } = await first.api.send({ name, data: 3 * DAY_MS })
  await waitsFor(first.api, short, 'sleep')
  const wakes = wakesAt(await waitsFor(first.api, long, 'sleep'))
  await first.stop()
  clock.jump(2 * DAY_MS)
  const second = await openEngine({ clock, storeFile: first.storeFile })
  await runner.rejoin(second.api)
  await second.api.succeeded(short)
  expect(wakesAt(await waitsFor(second.api, long, 'sleep'))).toBe(wakes)
  clock.jumpTo(wakes)
  await second.api.succeeded(long)
  for (const runId of [short, long]) expect(runner.record.names(runId)).toEqual(['nap', 'after'])
})
