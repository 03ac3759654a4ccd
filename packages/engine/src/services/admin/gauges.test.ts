import { expect, onTestFinished, test } from 'vitest'
import { VirtualClock } from '../../adapters/clock/virtual.ts'
import { openSqliteStore } from '../../adapters/sql/sqlite/store.ts'
import { NOW, run } from '../../domain/testkit/nouns.testkit.ts'
import { Live } from '../live/live.ts'
import { EngineCapacity } from '../support/engine-capacity.ts'
import { readGauges } from './gauges.ts'

async function setUp(readiness = { ready: true, checks: { store: 'ok' as const }, draining: false }) {
  const store = await openSqliteStore({ file: ':memory:' })
  onTestFinished(() => store.close())
  const capacities = {
    runs: new EngineCapacity(2),
    deliveries: new EngineCapacity(2),
    timers: new EngineCapacity(2),
  }
  const deps = {
    store,
    clock: new VirtualClock({ start: NOW }),
    live: new Live(),
    capacities,
    connections: { size: 3 },
    health: { check: async () => readiness },
    limiter: {},
  }
  return { store, capacities, read: () => readGauges(deps) }
}

test('a lane is as late as its oldest due row', async () => {
  const { store, capacities, read } = await setUp()
  const lanes = async () => (await read()).lanes.filter(({ lane }) => lane === 'runs')
  capacities.runs.acquire()
  expect(await lanes()).toEqual([{ lane: 'runs', underWay: 1, lagMs: 0 }])
  const at = (id: string, availableAt: number) => ({
    type: 'run.created' as const,
    run: run({ id, status: 'queued', availableAt, leaseOwner: undefined }),
  })
  await store.commit({ guards: [], changes: [at('run_later', NOW + 1)] })
  expect(await lanes()).toEqual([{ lane: 'runs', underWay: 1, lagMs: 0 }])
  await store.commit({ guards: [], changes: [at('run_late', NOW - 500), at('run_latest', NOW - 2000)] })
  expect(await lanes()).toEqual([{ lane: 'runs', underWay: 1, lagMs: 2000, oldestReadyAt: NOW - 2000 }])
})

test('when the store does not answer, only the lateness is missing', async () => {
  const { store, read } = await setUp()
  await store.close()
  const { lanes, sockets, dependencies } = await read()
  expect(lanes[0]).toEqual({ lane: 'runs', underWay: 0 })
  expect({ sockets, dependencies }).toEqual({ sockets: 3, dependencies: { store: 'ok' } })
})

test('the store counts its commits, and stale ones by their guard', async () => {
  const { store, read } = await setUp()
  await store.commit({ guards: [], changes: [] })
  const guards = [{ type: 'run' as const, runId: 'run_nowhere', fence: 1 }]
  await expect(store.commit({ guards, changes: [] })).rejects.toThrow()
  const { store: stats } = await read()
  expect(stats).toMatchObject({ commits: 1, stale: { run: 1 }, pending: 0 })
  expect(stats?.batchSizes.counts[0]).toBe(stats?.batches)
})
