// Which units wait for a broadcast that keeps losing, and for how long.

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Unit } from '../../../domain/model/change.ts'
import type { Step } from '../../../domain/model/step.ts'
import { sleeping, waiting } from '../../../domain/testkit/nouns.testkit.ts'
import { BroadcastFairness } from './broadcast-fairness.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function broadcast(eventName: string, size = 100): Unit {
  const waiters = Array.from({ length: size }, (_, i) => ({ runId: `run_${i}`, stepIndex: 0 }))
  return { guards: [{ type: 'waiters', namespace: 'default', eventName, waiters }], changes: [] }
}

function unitOf(step: Omit<Step, 'runId' | 'index' | 'seq'>): Unit {
  return {
    guards: [],
    changes: [{ type: 'step.recorded', step: { ...step, runId: 'run_x', index: 0, seq: 1 } }],
  }
}

const park = (eventName: string) => unitOf(waiting('pay', eventName))

/** Whether the unit may be committed now. */
async function mayGo(fairness: BroadcastFairness, unit: Unit): Promise<boolean> {
  return Promise.race([
    fairness.waitForBroadcasts(unit).then(() => true),
    vi.advanceTimersByTimeAsync(0).then(() => false),
  ])
}

function lostTwice(eventName: string, size?: number): BroadcastFairness {
  const fairness = new BroadcastFairness()
  for (let i = 0; i < 2; i++) fairness.lost(broadcast(eventName, size))
  return fairness
}

test('no unit waits for a broadcast that lost once', async () => {
  const fairness = new BroadcastFairness()
  fairness.lost(broadcast('paid'))
  expect(await mayGo(fairness, park('paid'))).toBe(true)
})

test('after two losses a wait for the event is committed after the broadcast', async () => {
  const fairness = lostTwice('paid')
  expect(await mayGo(fairness, park('paid'))).toBe(false)
  const parked = fairness.waitForBroadcasts(park('paid'))
  fairness.committed(broadcast('paid'))
  await parked
  expect(fairness.isActive).toBe(false)
})

test('other units do not wait: the broadcast itself, a wait for another event, another step', async () => {
  const fairness = lostTwice('paid')
  for (const unit of [broadcast('paid'), park('sent'), unitOf(sleeping('nap', 1))])
    expect(await mayGo(fairness, unit)).toBe(true)
})

test('no unit waits for a broadcast to few waits', async () => {
  expect(await mayGo(lostTwice('paid', 99), park('paid'))).toBe(true)
})

test('units wait at most a second for a broadcast that is not tried again', async () => {
  const fairness = lostTwice('paid')
  const parked = fairness.waitForBroadcasts(park('paid'))
  await vi.advanceTimersByTimeAsync(1000)
  await parked
  expect(fairness.isActive).toBe(false)
})
