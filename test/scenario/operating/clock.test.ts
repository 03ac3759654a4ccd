// The wall clock is set while the engine works (docs/operating.md#clocks): every duration uses the monotonic clock.

import { openAdministration } from '@perdure/engine'
import type { EventRecord, ScheduleEntry } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import {
  type Api,
  flow,
  gate,
  JumpClock,
  onCleanup,
  openEngine,
  run,
  scenario,
  sleep,
  step,
  unique,
  until,
  wait,
} from '../../kit/index.ts'
import { dialAs } from '../../kit/runner/connect-client.ts'

const SECOND = 1000
const MINUTE = 60_000
const HOUR = 3_600_000

test('while the wall clock is set again and again, a long step runs once, and ends its run', async () => {
  const { api, clock, start, barrier } = await scenario()
  const slow = gate()
  const { runId, record } = await start(flow([run('slow', () => slow.opened)]))
  await until(() => record.times(runId, 'slow') === 1)
  for (const ms of [-HOUR, 2 * HOUR, -30 * SECOND, 0, 0]) {
    clock.setWall(clock.now() + ms)
    await barrier()
    clock.jump(10 * SECOND)
    await barrier()
  }
  slow.open()
  await api.succeeded(runId)
  expect(record.times(runId, 'slow')).toBe(1)
})

describe.each([
  ['back', -HOUR],
  ['forward', HOUR],
])('when the wall clock is set %s by an hour', (_, by) => {
  test('a retry that is under way counts, and runs once; sleeps end after their duration, or at their time', async () => {
    const { api, clock, start, barrier } = await scenario()
    const slow = gate()
    let attempts = 0
    const work = () => {
      attempts++
      if (attempts === 1) throw new Error('not yet')
      return slow.opened
    }
    const { runId } = await start(flow([run('flaky', work)]))
    await api.reaches(runId, 'waiting')
    clock.jump(MINUTE)
    await until(() => attempts === 2)
    const { runId: nap } = await start(flow([sleep('nap', 10 * MINUTE)]))
    const at = clock.now() + 2 * HOUR
    const { runId: late } = await start(flow([step('SleepUntil', 'nap', { sleepUntilMs: at })]))
    for (const id of [nap, late]) await api.reaches(id, 'waiting')
    clock.setWall(clock.now() + by)
    await barrier()
    clock.jump(10 * SECOND)
    await barrier()
    slow.open()
    await api.succeeded(runId)
    expect(attempts).toBe(2)
    clock.jump(9 * MINUTE)
    await barrier()
    expect((await api.run(nap)).status).toBe('waiting')
    clock.jump(MINUTE)
    await api.succeeded(nap)
    clock.jumpTo(at - 1)
    await barrier()
    expect((await api.run(late)).status).toBe('waiting')
    clock.jump(1)
    await api.succeeded(late)
  })
})

/** The engine's time: the time of an event that it receives now. */
async function receivedAt(api: Api): Promise<number> {
  const { eventId } = await api.send({ name: 'nobody.listens' })
  return Date.parse(((await api.get(`/events/${eventId}`)).json as { receivedAt: string }).receivedAt)
}

test('a runner stays live after its heartbeat for as long as ever, however the wall clock is set', async () => {
  const clock = new JumpClock()
  const { api } = await openEngine({ clock })
  const app = unique('app')
  await api.post('/register', { app, runner: 'r', url: 'http://127.0.0.1:9/', workflows: [{ name: app }] })
  const isLive = async () => ((await api.get(`/runners?app=${app}`)).json as { live: boolean }[])[0]?.live
  for (const by of [HOUR, -2 * HOUR]) {
    clock.setWall(clock.now() + by)
    await until(async () => Math.abs((await receivedAt(api)) - clock.now()) < SECOND, { what: 'the engine to follow' })
    expect(await isLive()).toBe(true)
  }
  clock.jump(91 * SECOND)
  expect(await isLive()).toBe(false)
})

test('a store that was written by a clock that was ahead keeps no run waiting after a restart', async () => {
  const before = await scenario({ onDisk: true })
  const name = unique('workflow')
  await before.workflow(flow([sleep('nap', MINUTE)]), { name })
  const { runId } = await before.api.send({ name })
  await before.api.reaches(runId, 'waiting')
  await before.engine.stop()
  const clock = new JumpClock(before.clock.now() - HOUR)
  const { api, engine } = await scenario({ clock, storeFile: before.engine.storeFile })
  await engine.runner({ workflows: { [name]: flow([sleep('nap', MINUTE)]) } })
  clock.jump(MINUTE)
  await api.succeeded(runId)
})

describe('when the wall clock was ahead for ten days', () => {
  const DAY = 24 * HOUR

  /** An hourly schedule of the API and of a workflow, and the instants at which each fired. */
  async function hourly() {
    const clock = new JumpClock(Date.UTC(2031, 4, 20, 14, 30))
    const engine = await openEngine({ clock })
    const { api } = engine
    const name = unique('hourly')
    const registration = { triggers: [{ cron: '0 * * * *' }] }
    await engine.runner({ workflows: { [name]: { handler: flow([run('a')]), registration } } })
    await api.put(`/schedules/${name}`, { cron: '0 * * * *', event: { name } })
    const instants = async () => {
      const events = (await api.get(`/events?name=${name}&limit=200`)).json as EventRecord[]
      const runs = await Promise.all((await api.runs(`?workflow=${name}&limit=200`)).map(({ id }) => api.run(id)))
      const ofRuns = runs.map(({ input }) => (input as { scheduledAt: string }).scheduledAt)
      return { api: events.map(({ scheduledAt }) => scheduledAt as string).sort(), workflow: ofRuns.sort() }
    }
    const fired = (count: number) =>
      until(async () => {
        const { api, workflow } = await instants()
        return api.length >= count && workflow.length >= count && { api, workflow }
      })
    const setWall = async (by: number) => {
      clock.setWall(clock.now() + by)
      await until(async () => Math.abs((await receivedAt(api)) - clock.now()) < SECOND, {
        what: 'the engine to follow',
      })
    }
    const schedules = async () => (await api.get('/schedules')).json as ScheduleEntry[]
    const nextAt = (instant: string) =>
      until(async () => (await schedules()).every(({ next }) => next[0] === instant), { what: `${instant} to be next` })
    return { clock, api, name, fired, setWall, nextAt }
  }

  test('schedules fire on time afterwards, and no instant twice', async () => {
    const { clock, fired, setWall, nextAt } = await hourly()
    await setWall(10 * DAY)
    const ahead = '2031-05-30T14:00:00.000Z'
    expect(await fired(1)).toEqual({ api: [ahead], workflow: [ahead] })
    await setWall(-10 * DAY)
    for (const hour of [15, 16, 17]) {
      const instant = `2031-05-20T${hour}:00:00.000Z`
      await nextAt(instant)
      clock.jumpTo(Date.parse(instant))
      await fired(hour - 13)
    }
    clock.jumpTo(Date.parse('2031-05-30T13:00:00.000Z'))
    await fired(5)
    await nextAt('2031-05-30T15:00:00.000Z')
    clock.jumpTo(Date.parse('2031-05-30T15:00:00.000Z'))
    const days = ['20T15', '20T16', '20T17', '30T13', '30T14', '30T15'].map(day => `2031-05-${day}:00:00.000Z`)
    expect(await fired(6)).toEqual({ api: days, workflow: days })
  })

  test('a schedule that was paused or made meanwhile fires on time afterwards', async () => {
    const { clock, api, name, fired, setWall, nextAt } = await hourly()
    await setWall(10 * DAY)
    await fired(1)
    await api.post(`/schedules/${name}/pause`)
    await api.put(`/schedules/${name}-new`, { every: '30m', event: { name: `${name}-new` } })
    await setWall(-10 * DAY)
    await api.post(`/schedules/${name}/resume`)
    await nextAt('2031-05-20T15:00:00.000Z')
    clock.jumpTo(Date.parse('2031-05-20T15:00:00.000Z'))
    await fired(2)
  })
})

describe('once the wall clock is set back by an hour', () => {
  test('Connect runners still get their heartbeats', async () => {
    const clock = new JumpClock()
    const engine = await openEngine({ clock })
    const client = await dialAs(engine.url, { app: unique('app') })
    clock.setWall(clock.now() - HOUR)
    for (const count of [1, 2]) {
      clock.jump(10 * SECOND)
      await until(() => client.count('heartbeat') >= count)
    }
  })

  test('a revoked key is noticed within 2 s', async () => {
    const clock = new JumpClock()
    const { api, storeFile } = await openEngine({ onDisk: true, clock })
    const { administration, close } = await openAdministration(`sqlite:${storeFile}`)
    onCleanup(close)
    const { stored, key } = await administration.createKey({ kind: 'secret' })
    const status = async () => (await api.as(key).get('/runs')).status
    await administration.createKey({ kind: 'secret' })
    clock.setWall(clock.now() - HOUR)
    const becomes = async (expected: number) => {
      clock.jump(2 * SECOND)
      await until(async () => (await status()) === expected, { what: `status ${expected}` })
    }
    await becomes(200)
    await administration.revokeKey(stored.id)
    await becomes(401)
  })

  test('a drain ends in its time', async () => {
    const { clock, engine, start } = await scenario({ env: { ENGINE_DRAIN_TIMEOUT: '15s' } })
    const { runId, record } = await start(flow([run('slow', () => gate().opened)]))
    await until(() => record.times(runId, 'slow') === 1)
    const stopping = engine.stop()
    clock.setWall(clock.now() - HOUR)
    await until(async () => (await engine.api.get('/readyz')).status === 503)
    clock.jump(15 * SECOND)
    await stopping
    await until(() => record.of(runId)[0]?.signal.aborted)
  })

  test('a run that is due is claimed, a wait finds an event that came since its run was created, and a cancel ends a pass', async () => {
    const { api, clock, barrier, start } = await scenario()
    const [held, eventName] = [gate(), unique('go')]
    const waiting = await start(flow([run('first', () => held.opened), wait('go', eventName, HOUR)]))
    const hung = await start(flow([run('slow', () => gate().opened)]))
    await until(() => waiting.record.times(waiting.runId, 'first') === 1)
    await until(() => hung.record.times(hung.runId, 'slow') === 1)
    clock.setWall(clock.now() - HOUR)
    const { eventId } = await api.send({ name: eventName })
    held.open()
    expect(await api.succeeded(waiting.runId)).toMatchObject({ result: { go: { id: eventId } } })
    expect((await api.post(`/runs/${hung.runId}/cancel`)).status).toBe(200)
    await until(() => hung.record.of(hung.runId)[0]?.signal.aborted)
    await barrier()
    const { runId } = await start(flow([run('one')]))
    await api.succeeded(runId)
  })
})
