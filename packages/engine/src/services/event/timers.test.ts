// Timers on a real store: a row fires once, whichever engine fires it and however often it is claimed.

import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { MemoryQueue } from '../../adapters/queue/memory.ts'
import { openSqliteStore } from '../../adapters/sql/sqlite/store.ts'
import { fanout } from '../../domain/arrival/fanout.ts'
import { scheduleChanges } from '../../domain/arrival/schedules.ts'
import type { Change, Unit } from '../../domain/model/change.ts'
import { StaleError } from '../../domain/model/errors.ts'
import { type FlowRow, flowRowId } from '../../domain/model/flow-row.ts'
import { noAssumptions } from '../../domain/run/assumptions.ts'
import { event, HOUR, MINUTE, NOW, workflow } from '../../domain/testkit/nouns.testkit.ts'
import { Catalog } from '../catalog/catalog.ts'
import { Announcer } from '../commit/announce.ts'
import { Live } from '../live/live.ts'
import { Timers } from './timers.ts'

const tidy = workflow('tidy', { triggers: [{ cron: '* * * * *' }] })
const save = workflow('save', { flowControl: { debounce: { periodMs: MINUTE, mode: 'last' } } })

/** A store with both workflows, and engines that fire their rows. */
async function setUp() {
  const store = await openSqliteStore({ file: ':memory:' })
  onTestFinished(() => store.close())
  const clock = {
    time: NOW,
    now: () => clock.time,
    elapsed: () => clock.time,
    at: () => () => {},
    after: () => () => {},
  }
  const catalog = new Catalog({ deliveryAttemptsMax: 1, generationsMax: 100 })
  const changes: Change[] = [tidy, save].map(workflow => ({ type: 'workflow.registered', workflow }))
  const before = () => undefined
  const moves = scheduleChanges({ changes, before, assumptions: noAssumptions(), now: NOW })
  await store.commit({ guards: moves.guards, changes: [...changes, ...moves.changes] })
  catalog.apply(changes)
  const announcer = new Announcer({ queue: new MemoryQueue(clock), live: new Live(), store })
  const log = pino({ level: 'silent' })
  const report = () => {}
  const claim = (owner: string) => store.claimTimers({ owner, now: clock.time, leaseUntil: clock.time + 1, limit: 10 })
  /** A separate engine fires the claimed rows, to the end. */
  const fire = async (rows: readonly FlowRow[]) => {
    const timers = new Timers({
      store,
      catalog,
      announcer,
      clock,
      log,
      report,
      ingest: { arrive: async () => {} },
      schedules: { arrive: async () => {} },
      bulk: async () => {},
      timersMax: 10,
    })
    for (const row of rows) {
      timers.accept(row)
    }
    await timers.stop()
  }
  /** The unit of an event that joins the present buffer. */
  const decide = async (eventId: string): Promise<Unit> => {
    const flow = new Map([[BUFFER, (await store.flowRow(BUFFER)) ?? null]])
    const posted = event(eventId, 'save', { receivedAt: clock.time })
    const known = { ...noAssumptions(), flow }
    return fanout({ event: posted, catalog: catalog.view('default'), assumptions: known, report })
  }
  const runs = () => store.in('default').runs({ limit: 10 })
  return { store, clock, catalog, claim, fire, decide, runs }
}

const BUFFER = flowRowId({
  namespace: 'default',
  app: 'shop',
  workflow: 'save',
  policy: 'debounce',
  key: '',
})

test('a row that two engines have claimed fires once', async () => {
  const { store, clock, claim, fire, decide, runs } = await setUp()
  await store.commit(await decide('evt_1'))
  clock.time += MINUTE
  const first = await claim('engine-1')
  clock.time += 1
  const second = await claim('engine-2')
  expect([first.length, second.length]).toEqual([2, 2])
  await Promise.all([fire(first), fire(second)])
  clock.time += 1
  await fire(first)
  expect((await runs()).map(({ workflow }) => workflow).sort()).toEqual(['save', 'tidy'])
  expect(await claim('engine-3')).toEqual([])
  expect(await store.nextAvailableAt('timers')).toBe(NOW + 2 * MINUTE)
})

test('rows that were claimed while the clock was ahead fire at their times', async () => {
  const { store, clock, claim, fire, decide, runs } = await setUp()
  await store.commit(await decide('evt_1'))
  clock.time += 240 * HOUR
  const claimed = await claim('engine-1')
  expect(claimed).toHaveLength(2)
  clock.time = NOW + 1
  await fire(claimed)
  expect(await runs()).toEqual([])
  clock.time = NOW + MINUTE
  await fire(await claim('engine-1'))
  expect((await runs()).map(({ workflow }) => workflow).sort()).toEqual(['save', 'tidy'])
})

test('a buffer that an event joins under a lease fires later, with that event', async () => {
  const { store, clock, claim, fire, decide, runs } = await setUp()
  await store.commit(await decide('evt_1'))
  clock.time += MINUTE
  const claimed = (await claim('engine-1')).filter(({ id }) => id === BUFFER)
  // The clock of the engine that accepts the event is a little behind.
  clock.time -= 1
  await store.commit(await decide('evt_2'))
  clock.time += 1
  await fire(claimed)
  expect(await runs()).toEqual([])
  clock.time += MINUTE
  await fire(await claim('engine-1'))
  const saves = (await runs()).filter(({ workflow }) => workflow === 'save')
  expect(saves.map(({ eventId }) => eventId)).toEqual(['evt_2'])
})

test('a buffer of a workflow that only another engine knows yet becomes its run all the same', async () => {
  const { store, clock, catalog, claim, fire, decide, runs } = await setUp()
  await store.commit(await decide('evt_1'))
  catalog.replace({ ...(await store.catalog()), workflows: [] }, (await store.catalogRevision()) - 1)
  let looks = 0
  catalog.refreshWith(async () => {
    // The first refresh does not find the workflow.
    if (++looks > 1) catalog.replace(await store.catalog(), await store.catalogRevision())
    return looks > 1
  })
  clock.time += MINUTE
  await fire(await claim('engine-1'))
  expect((await runs()).map(({ workflow }) => workflow).sort()).toEqual(['save', 'tidy'])
  expect(looks).toBeGreaterThan(1)
})

test('a decision on a buffer that is gone is stale for the buffer after it', async () => {
  const { store, clock, claim, fire, decide } = await setUp()
  await store.commit(await decide('evt_1'))
  const { version } = (await store.flowRow(BUFFER)) ?? {}
  const late = await decide('evt_2')
  clock.time += MINUTE
  await fire(await claim('engine-1'))
  await store.commit(await decide('evt_3'))
  expect((await store.flowRow(BUFFER))?.version).not.toBe(version)
  await expect(store.commit(late)).rejects.toThrow(StaleError)
})
