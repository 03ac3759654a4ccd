// Sifting a crowd of waits says what looking at each of them says, and lets the event loop go on meanwhile.

import { expect, test } from 'vitest'
import { isAwaited } from '../../domain/arrival/fanout.ts'
import { EventSubject, type FilterFault } from '../../domain/expressions/matching.ts'
import type { Waiter } from '../../domain/model/event.ts'
import { evaluateFilters, FILTERS_AT_ONCE_MAX } from './waiter-filters.ts'

const event = { id: 'evt_1', name: 'paid', data: '{"id":1}' }
const FILTER = 'async.data.id == event.data.id'

/** Waits of every kind: without a filter, met, not met, and one that cannot be evaluated. */
function crowd(size: number): Waiter[] {
  return Array.from({ length: size }, (_, i) => {
    const waiter = { runId: `run_${i}`, stepIndex: 0, since: i }
    const data = i % 4 === 3 ? '{}' : `{"id":${i % 2}}`
    return i % 5 === 0
      ? waiter
      : { ...waiter, condition: { filter: FILTER, trigger: { name: 'order', data } } }
  })
}

test('few waits are left to the decision', async () => {
  expect(await evaluateFilters(crowd(FILTERS_AT_ONCE_MAX - 1), event, () => {})).toBeUndefined()
})

test('of many it finds those that the event meets, and reports the same faults', async () => {
  const waiters = crowd(3000)
  const [faults, expected]: FilterFault[][] = [[], []]
  const subject = new EventSubject(event)
  const met = waiters.filter(waiter => isAwaited(waiter, subject, fault => expected?.push(fault)))
  const awaited = await evaluateFilters(waiters, event, fault => faults?.push(fault))
  expect([...(awaited ?? [])]).toEqual(met)
  expect(met.length).toBeGreaterThan(600)
  expect(faults).toEqual(expected)
  expect(faults?.length).toBeGreaterThan(100)
})

test('between its slices others get their turn', async () => {
  let turns = 0
  let sifting = true
  const count = () => {
    turns++
    if (sifting) setImmediate(count)
  }
  setImmediate(count)
  await evaluateFilters(crowd(3000), event, () => {})
  sifting = false
  expect(turns).toBeGreaterThan(5)
})
