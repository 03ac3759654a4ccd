// A lane loop while another engine works on the same store.

import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { VirtualClock } from '../../adapters/clock/virtual.ts'
import { MemoryQueue } from '../../adapters/queue/memory.ts'
import { openSqliteStore } from '../../adapters/sql/sqlite/store.ts'
import type { LoadedRun } from '../../domain/run/state.ts'
import { NOW, run } from '../../domain/testkit/nouns.testkit.ts'
import { RUN_LEASE_MS } from '../pass/leases.ts'
import { LaneLoop } from './lane.ts'
import { Permits } from './permits.ts'

test.each([1, 9999, 25_000])(
  'a lease of an engine that dies, taken %i ms after the lane began to wait, is claimed when it runs out',
  async ms => {
    const store = await openSqliteStore({ file: ':memory:' })
    onTestFinished(() => store.close())
    const clock = new VirtualClock({ start: NOW })
    const taken: { runId: string; at: number }[] = []
    const lane = new LaneLoop<LoadedRun>({
      lane: 'runs',
      store,
      queue: new MemoryQueue(clock),
      clock,
      log: pino({ level: 'silent' }),
      owner: 'us',
      leaseMs: RUN_LEASE_MS,
      isShared: true,
      work: {
        permits: new Permits(10),
        accept: ({ run }) => void taken.push({ runId: run.id, at: clock.now() }),
      },
      claim: claim => store.claimRuns(claim),
    })
    lane.start()
    onTestFinished(() => lane.stop())
    await clock.advance(ms)
    const availableAt = clock.now() + RUN_LEASE_MS
    const leased = run({ id: 'run_1', status: 'running', leaseOwner: 'them', availableAt })
    // Nothing wakes this lane.
    await store.commit({ guards: [], changes: [{ type: 'run.created', run: leased }] })
    await clock.advance(RUN_LEASE_MS)
    expect(taken).toEqual([{ runId: 'run_1', at: availableAt }])
  },
)
