// Who gives way to a broadcast that keeps losing, and for how long.

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Unit } from '../../../domain/model/change.ts'
import type { Step } from '../../../domain/model/step.ts'
import { sleeping, waiting } from '../../../domain/testkit/nouns.testkit.ts'
import { Crowds } from './broadcast-fairness.ts'

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

/** Whether the unit may go now. */
async function mayGo(crowds: Crowds, unit: Unit): Promise<boolean> {
  return Promise.race([
    crowds.giveWay(unit).then(() => true),
    vi.advanceTimersByTimeAsync(0).then(() => false),
  ])
}

function lostTwice(eventName: string, size?: number): Crowds {
  const crowds = new Crowds()
  for (let i = 0; i < 2; i++) crowds.settled(broadcast(eventName, size), 'lost')
  return crowds
}

test('nobody gives way to a broadcast that lost once', async () => {
  const crowds = new Crowds()
  crowds.settled(broadcast('paid'), 'lost')
  expect(await mayGo(crowds, park('paid'))).toBe(true)
})

test('after two losses a wait for the event lets it go first', async () => {
  const crowds = lostTwice('paid')
  expect(await mayGo(crowds, park('paid'))).toBe(false)
  const parked = crowds.giveWay(park('paid'))
  crowds.settled(broadcast('paid'), 'done')
  await parked
  expect(crowds.any).toBe(false)
})

test('nobody else does: not the broadcast itself, no wait for another event, no other step', async () => {
  const crowds = lostTwice('paid')
  for (const unit of [broadcast('paid'), park('sent'), unitOf(sleeping('nap', 1))])
    expect(await mayGo(crowds, unit)).toBe(true)
})

test('a broadcast to few gets no such favour', async () => {
  expect(await mayGo(lostTwice('paid', 99), park('paid'))).toBe(true)
})

test('one that does not come back is not waited for longer than a second', async () => {
  const crowds = lostTwice('paid')
  const parked = crowds.giveWay(park('paid'))
  await vi.advanceTimersByTimeAsync(1000)
  await parked
  expect(crowds.any).toBe(false)
})
