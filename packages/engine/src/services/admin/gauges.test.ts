import { expect, onTestFinished, test } from 'vitest'
import { VirtualClock } from '../../adapters/clock/virtual.ts'
import { openSqliteStore } from '../../adapters/sql/sqlite/store.ts'
import type { Run } from '../../domain/model/run.ts'
import { NOW, run } from '../../domain/testkit/nouns.testkit.ts'
import { Live } from '../live/live.ts'
import { Permits } from '../support/permits.ts'
import { readGauges } from './gauges.ts'

const NO_MEMORY = { max: 1, used: 0, waiting: 0 }

async function setUp(readiness = { ready: true, checks: { store: 'ok' as const }, draining: false, held: false }) {
  const store = await openSqliteStore({ file: ':memory:' })
  onTestFinished(() => store.close())
  const permits = {
    runs: new Permits(2),
    deliveries: new Permits(2),
    timers: new Permits(2),
  }
  const deps = {
    store,
    clock: new VirtualClock({ start: NOW }),
    live: new Live(),
    permits,
    acceptance: { waiting: 4 },
    connections: { size: 3 },
    memory: { runs: NO_MEMORY, messages: NO_MEMORY },
    health: { check: async () => readiness },
    limiter: {},
    catalog: {
      view: () => ({
        apps: new Map([
          ['shop', {}],
          ['mail', {}],
        ]),
      }),
    },
  }
  return { store, permits, read: () => readGauges(deps, 'default') }
}

test('a lane is as late as its oldest due row', async () => {
  const { store, permits, read } = await setUp()
  const lanes = async () => (await read()).lanes.filter(({ lane }) => lane === 'runs')
  permits.runs.take()
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

test('runs that no runner could be reached for are counted by app, with 0 for apps that have a runner', async () => {
  const { store, read } = await setUp()
  const parked = { namespace: 'default', app: 'shop', status: 'queued', leaseOwner: undefined } as const
  const held = (id: string, waitingFor: Run['waitingFor']) => ({
    type: 'run.created' as const,
    run: run({ id, ...parked, waitingFor }),
  })
  const runner = { kind: 'runner', until: NOW + 1 } as const
  await store.commit({ guards: [], changes: [held('run_1', runner), held('run_2', runner)] })
  // This run only waits for room on its runner.
  await store.commit({ guards: [], changes: [held('run_3', { kind: 'runner' })] })
  expect((await read()).withoutRunner).toEqual([
    { app: 'shop', runs: 2 },
    { app: 'mail', runs: 0 },
  ])
})

test('when the store does not answer, only the lateness and the runs are missing', async () => {
  const { store, read } = await setUp()
  await store.close()
  const { lanes, sockets, dependencies, withoutRunner } = await read()
  expect(withoutRunner).toBeUndefined()
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
