// Leases on a real store: the keeper extends those of its engine, and interrupts and counts those that are lost.

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
