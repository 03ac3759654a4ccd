// A wait's event and its timeout, at the same moment and in every order of their store calls. One of them settles the wait, and
// both sides know which. `PERDURE_RACES=100000` runs that many races; `PERDURE_SEED=n` begins with that seed.

import { expect, test } from 'vitest'
import { openSqliteStore } from '../../../packages/engine/src/adapters/sql/sqlite/store.ts'
import { type Fanout, fanout } from '../../../packages/engine/src/domain/arrival/fanout.ts'
import type { Decision } from '../../../packages/engine/src/domain/model/decision.ts'
import { begin } from '../../../packages/engine/src/domain/pass/begin.ts'
import { RunState } from '../../../packages/engine/src/domain/run/state.ts'
import { toRunner } from '../../../packages/engine/src/domain/testkit/given.testkit.ts'
import { catalog, idleRun, NOW, waiting, workflow } from '../../../packages/engine/src/domain/testkit/nouns.testkit.ts'
import type { Store } from '../../../packages/engine/src/ports/store.ts'
import { decideAndCommit } from '../../../packages/engine/src/services/commit/decide-and-commit.ts'
import { seeded } from '../../kit/seeded.ts'
import { Interleaving } from './interleaving.ts'

const RACES = Number(process.env.PERDURE_RACES ?? 1000)
const FIRST_SEED = Number(process.env.PERDURE_SEED ?? 1)
const NAMESPACE = 'default'
const EVENT = 'paid'
const LEASE_MS = 1e12
const view = catalog(workflow('order'))
const report = () => {}

/** The engine that leases the run when its wait is due, and settles the waits that have timed out. */
async function owner(store: Store, runId: string, now: number): Promise<void> {
  const [loaded] = await store.claimRuns({ owner: 'engine-1', now, leaseUntil: now + LEASE_MS, limit: 1 })
  if (loaded?.run.id !== runId) throw new Error(`claimed ${loaded?.run.id} instead of ${runId}`)
  let state = RunState.claimed(loaded)
  const decided = await decideAndCommit<Decision>({
    store,
    decide: assumptions =>
      begin(state, { now, route: toRunner, catalog: view, assumptions, report: () => {} }).decision,
    unit: decision => decision,
    onStale: async () => {
      const again = await store.loadRun(runId)
      if (!again) throw new Error('the run is gone')
      state = RunState.loaded(again)
      return true
    },
  })
  expect(decided?.run.status).toBe('running')
}

/** The event arrives. */
async function poster(store: Store, id: string, now: number): Promise<void> {
  const event = { namespace: NAMESPACE, id, name: EVENT, source: 'api' as const, receivedAt: now, data: '1' }
  await decideAndCommit<Fanout>({
    store,
    decide: known => fanout({ event, catalog: view, assumptions: known, now, report }),
    unit: ({ guards, changes, wakes }) => ({ guards, changes: [...changes, ...wakes] }),
    onStale: () => false,
  })
}

/** Runs one race; returns which of the two settled the wait. */
async function race(store: Store, seed: number): Promise<'event' | 'timeout'> {
  const random = seeded(seed)
  const [runId, eventId] = [`run_${seed}`, `evt_${seed}`]
  const due = NOW + seed * 10
  const run = idleRun('waiting', { namespace: NAMESPACE, id: runId, availableAt: due })
  const step = { ...waiting('payment', EVENT, { wakeAt: due }), runId, index: 0, seq: 1 }
  await store.commit({
    guards: [],
    changes: [
      { type: 'run.created', run },
      { type: 'step.recorded', step },
    ],
  })
  const interleaving = new Interleaving(random)
  const stopping = interleaving.through(store, ['claimRuns', 'commit', 'loadRun', 'waiters'])
  // The event makes one store call more than the timeout, so the timeout is delayed in some races.
  const late = random.between(0, 2)
  await interleaving.run(
    async () => {
      for (let i = 0; i < late; i++) await interleaving.turn()
      await owner(stopping, runId, due + 1)
    },
    () => poster(stopping, eventId, due + random.between(-1, 1)),
  )
  const reads = store.in(NAMESPACE)
  const [[settled], event, { frames }] = await Promise.all([
    reads.steps(runId),
    reads.event(eventId),
    reads.timeline(runId, { after: 0, limit: 100, openFrom: 0 }),
  ])
  const ends = frames.filter(frame => frame.kind === 'step_status' && frame.status === 'succeeded')
  const outcome = { woke: event?.woke, by: settled?.eventId, timedOut: settled?.timedOut, ends: ends.length }
  const byEvent = { woke: 1, by: eventId, timedOut: undefined, ends: 1 }
  const byTimeout = { woke: 0, by: undefined, timedOut: true, ends: 1 }
  expect([byEvent, byTimeout], `seed ${seed}`).toContainEqual(outcome)
  expect(settled?.data === 'null', `seed ${seed}`).toBe(outcome.timedOut === true)
  return outcome.timedOut ? 'timeout' : 'event'
}

test(`${RACES} races of an event against a timeout have one outcome each`, { timeout: 600_000 }, async () => {
  const store = await openSqliteStore({ file: ':memory:' })
  const won = { event: 0, timeout: 0 }
  for (let seed = FIRST_SEED; seed < FIRST_SEED + RACES; seed++) won[await race(store, seed)]++
  await store.close()
  // Each side wins often; otherwise the two did not meet.
  expect(Math.min(won.event, won.timeout)).toBeGreaterThan(RACES / 10)
})
