// The stored times of a SQLite store, after its wall clock was set: times of durations move, times that were requested stay.

import { describe, expect, test } from 'vitest'
import { openSqliteStore } from '../../../packages/engine/src/adapters/sql/sqlite/store.ts'
import { type FlowPolicy, type FlowRow, flowRowId } from '../../../packages/engine/src/domain/model/flow-row.ts'
import type { StoreTimes } from '../../../packages/engine/src/ports/store.ts'
import { onCleanup } from '../../kit/cleanup.ts'
import { aDelivery, aLeasedRun, anEvent, aParkedRun, aRun, aStep, created, NOW, NS, write } from './samples.ts'

const HOUR = 3_600_000

async function open() {
  const store = await openSqliteStore({ file: ':memory:' })
  onCleanup(() => store.close())
  return { store, times: store.times as StoreTimes }
}

test.each([-HOUR, HOUR])('move by %i ms with the clock, but a sleep until a time stays', async by => {
  const { store, times } = await open()
  const wakeAt = NOW + 2 * HOUR
  const sleeps = aParkedRun({ availableAt: wakeAt, waitingFor: { kind: 'sleep', stepName: 's', until: wakeAt } })
  const until = aParkedRun({ availableAt: wakeAt, waitingFor: { kind: 'sleep', stepName: 's', until: wakeAt } })
  const waitsLonger = { status: 'waiting', wakeAt, data: undefined, finishedAt: undefined } as const
  const leased = aLeasedRun({ availableAt: NOW + 15_000 })
  const delivery = aDelivery({ availableAt: NOW + 5000, nextAttemptAt: NOW + 5000 })
  await write(
    store,
    created(sleeps, aStep(sleeps, { ...waitsLonger, op: 'Sleep' })),
    created(until, aStep(until, { ...waitsLonger, op: 'SleepUntil' })),
    created(leased),
    { type: 'delivery.created', delivery },
  )
  await times.move({ by, now: NOW + by })
  const [slept, waited, held] = await Promise.all([sleeps, until, leased].map(({ id }) => store.loadRun(id)))
  expect(slept).toMatchObject({ run: { availableAt: wakeAt + by, waitingFor: { until: wakeAt + by } } })
  expect(slept?.steps[0]?.wakeAt).toBe(wakeAt + by)
  // It may wake early, and then continues to sleep; it never wakes late.
  expect(waited).toMatchObject({ run: { availableAt: wakeAt + Math.min(0, by), waitingFor: { until: wakeAt } } })
  expect(waited?.steps[0]?.wakeAt).toBe(wakeAt)
  expect(held?.run).toMatchObject({
    availableAt: NOW + 15_000 + by,
    fence: leased.fence + 1,
    leaseOwner: leased.leaseOwner,
  })
  const found = await store.in(delivery.namespace).delivery(delivery.id)
  expect(found?.delivery).toMatchObject({ availableAt: NOW + 5000 + by, nextAttemptAt: NOW + 5000 + by })
})

test('a buffer moves with all of its times', async () => {
  const { store, times } = await open()
  const parts = { namespace: NS, app: 'shop', workflow: 'order', policy: 'batch', key: '' } as const
  const id = flowRowId(parts)
  const row = (by: number) => {
    const [firstAt, lastAt, fireAt] = [NOW + by, NOW + by + 1, NOW + by + 2]
    return {
      id,
      ...parts,
      availableAt: fireAt,
      dueAt: fireAt,
      state: JSON.stringify({ head: { firstAt, lastAt, fireAt } }),
    }
  }
  await write(store, { type: 'flow.saved', row: { ...row(0), version: 1 } })
  await times.move({ by: HOUR, now: NOW + HOUR })
  expect(await store.flowRow(id)).toEqual({ ...row(HOUR), version: 2 })
})

describe('when the clock was set back', () => {
  const row = (policy: FlowPolicy, about: Partial<FlowRow>): FlowRow => {
    const parts = { namespace: NS, app: '', workflow: '', policy, key: policy } as const
    return { id: flowRowId(parts), ...parts, version: 1, state: '{}', ...about }
  }
  const ahead = NOW + 240 * HOUR
  const setBack = { by: -240 * HOUR, now: NOW + 5 }
  const leased = { leaseOwner: 'engine-1', availableAt: ahead + 15_000 }

  async function afterwards(...rows: FlowRow[]) {
    const { store, times } = await open()
    await write(store, ...rows.map(row => ({ type: 'flow.saved', row }) as const))
    await times.move(setBack)
    return Promise.all(rows.map(({ id }) => store.flowRow(id)))
  }

  test('timers lose their leases', async () => {
    const [event, schedule, cron] = await afterwards(
      row('event', { ...leased, dueAt: NOW + HOUR }),
      row('schedule', leased),
      row('cron', leased),
    )
    expect(event).toMatchObject({ availableAt: NOW + HOUR, version: 2 })
    for (const due of [schedule, cron]) expect(due).toMatchObject({ availableAt: NOW + 5, version: 2 })
    for (const found of [event, schedule, cron]) expect(found?.leaseOwner).toBeUndefined()
  })

  test('schedules are due, so that they count their instants again; an event for later keeps its time', async () => {
    const paused = row('cron', {})
    const [schedule, later, held] = await afterwards(
      row('schedule', { availableAt: ahead + HOUR }),
      row('event', { availableAt: NOW + HOUR, dueAt: NOW + HOUR }),
      paused,
    )
    expect([schedule?.availableAt, later?.availableAt]).toEqual([NOW + 5, NOW + HOUR])
    expect(held).toEqual(paused)
  })

  test('schedules that were made by the time of before, and committed after it, become due', async () => {
    const { store, times } = await open()
    const rows = [row('schedule', { availableAt: ahead + 1 }), row('cron', { availableAt: NOW + HOUR })]
    await write(store, ...rows.map(row => ({ type: 'flow.saved', row }) as const))
    await times.wakeStranded({ now: NOW + 1000, until: ahead + 1000 })
    const found = await Promise.all(rows.map(({ id }) => store.flowRow(id)))
    expect(found.map(row => row?.availableAt)).toEqual([NOW + 1000, NOW + HOUR])
  })

  test('a bulk job goes on, and keeps the time of its creation', async () => {
    const job = { dueAt: ahead, expiresAt: ahead + 720 * HOUR }
    for (const about of [leased, { availableAt: ahead }]) {
      const [found] = await afterwards(row('bulk', { ...job, ...about }))
      expect(found).toMatchObject({ ...job, availableAt: NOW + 5, version: 2 })
      expect(found?.leaseOwner).toBeUndefined()
    }
    const { store, times } = await open()
    const stranded = row('bulk', { ...job, availableAt: ahead })
    await write(store, { type: 'flow.saved', row: stranded })
    await times.wakeStranded({ now: NOW + 1000, until: ahead + 1000 })
    expect((await store.flowRow(stranded.id))?.availableAt).toBe(NOW + 1000)
  })
})

test('what was due before the clock was set back, and was committed after it, becomes due', async () => {
  const { store, times } = await open()
  const [stranded, later] = [aRun({ availableAt: NOW }), aRun({ availableAt: NOW + 60_000 })]
  await write(store, created(stranded), created(later))
  await times.wakeStranded({ now: NOW - HOUR, until: NOW + 1000 })
  expect((await store.loadRun(stranded.id))?.run.availableAt).toBe(NOW - HOUR)
  expect((await store.loadRun(later.id))?.run.availableAt).toBe(NOW + 60_000)
})

test('the newest time is that of the last event or run', async () => {
  const { store, times } = await open()
  expect(await times.latest()).toBe(0)
  await write(
    store,
    { type: 'event.recorded', event: anEvent({ receivedAt: NOW + 7 }) },
    created(aRun({ createdAt: NOW })),
  )
  expect(await times.latest()).toBe(NOW + 7)
})

test.each([-HOUR, HOUR])('after a move by %i ms the newest time moves too, until newer rows come', async by => {
  const { store, times } = await open()
  await write(store, { type: 'event.recorded', event: anEvent({ receivedAt: NOW }) }, created(aRun({ createdAt: NOW })))
  await times.move({ by, now: NOW + by })
  expect(await times.latest()).toBe(NOW + by)
  await times.move({ by: -by / 2, now: NOW + by / 2 })
  expect(await times.latest()).toBe(NOW + by / 2)
  const later = NOW + by / 2 + 5
  await write(store, { type: 'event.recorded', event: anEvent({ receivedAt: later }) })
  expect(await times.latest()).toBe(later)
})
