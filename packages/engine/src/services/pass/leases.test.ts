// Leases on a real store: the keeper extends its engine's leases, and interrupts and counts the lost ones.

import { expect, onTestFinished, test } from 'vitest'
import { VirtualClock } from '../../adapters/clock/virtual.ts'
import { openSqliteStore } from '../../adapters/sql/sqlite/store.ts'
import { RunState } from '../../domain/run/state.ts'
import { NOW, run } from '../../domain/testkit/nouns.testkit.ts'
import { NO_METRICS } from '../../ports/metrics.ts'
import type { ActiveRun } from './active-run.ts'
import { Interrupt } from './interrupt.ts'
import { LeaseKeeper, RUN_LEASE_MS } from './leases.ts'

test('a lease that another engine has is given up and counted; the others are extended', async () => {
  const store = await openSqliteStore({ file: ':memory:' })
  onTestFinished(() => store.close())
  const clock = new VirtualClock({ start: NOW })
  const leasedBy = (id: string, leaseOwner: string) => run({ id, leaseOwner, availableAt: NOW + 5000 })
  const [ours, theirs] = [leasedBy('run_ours', 'us'), leasedBy('run_theirs', 'them')]
  const created = [ours, theirs].map(run => ({ type: 'run.created' as const, run }))
  await store.commit({ guards: [], changes: created })
  const activeRuns: ActiveRun[] = [ours, theirs].map(run => ({
    state: RunState.created({ ...run, leaseOwner: 'us' }),
    bytes: 0,
    leasedAt: clock.elapsed(),
    abort: new Interrupt(),
  }))
  const interrupted: string[] = []
  let lost = 0
  const keeper = new LeaseKeeper({
    store,
    clock,
    driver: { activeRuns, interrupt: runId => void interrupted.push(runId) },
    metrics: { ...NO_METRICS, leaseLost: () => void lost++ },
    owner: 'us',
    onError: error => expect.unreachable(String(error)),
  })
  keeper.start()
  onTestFinished(() => keeper.stop())
  await clock.advance(5000)
  await expect.poll(() => interrupted).toEqual(['run_theirs'])
  expect(lost).toBe(1)
  expect((await store.loadRun('run_ours'))?.run.availableAt).toBe(NOW + 5000 + RUN_LEASE_MS)
  expect((await store.loadRun('run_theirs'))?.run.availableAt).toBe(NOW + 5000)
})

test('a wall clock that is set back does not keep leases from being extended, nor one that is set forward', async () => {
  const store = await openSqliteStore({ file: ':memory:' })
  onTestFinished(() => store.close())
  const clock = new VirtualClock({ start: NOW })
  const leased = run({ id: 'run_ours', leaseOwner: 'us', availableAt: NOW + RUN_LEASE_MS })
  await store.commit({ guards: [], changes: [{ type: 'run.created', run: leased }] })
  const active: ActiveRun = {
    state: RunState.created(leased),
    bytes: 0,
    leasedAt: clock.elapsed(),
    abort: new Interrupt(),
  }
  const keeper = new LeaseKeeper({
    store,
    clock,
    driver: { activeRuns: [active], interrupt: () => expect.unreachable('the lease is lost') },
    metrics: NO_METRICS,
    owner: 'us',
    onError: error => expect.unreachable(String(error)),
  })
  keeper.start()
  onTestFinished(() => keeper.stop())
  for (const set of [-3_600_000, 7_200_000, -30_000]) {
    clock.setWall(clock.now() + set)
    await clock.advance(5000)
    const until = async () => (await store.loadRun('run_ours'))?.run.availableAt
    await expect.poll(until).toBe(clock.now() + RUN_LEASE_MS)
  }
})
