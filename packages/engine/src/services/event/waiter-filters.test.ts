// Evaluating many filters in slices has the same results as evaluating each, and lets the event loop go on.

import { expect, test } from 'vitest'
import { EventSubject, type FilterFault, isAwaited } from '../../domain/expressions/matching.ts'
import type { Waiter } from '../../domain/model/event.ts'
import type { Workflow } from '../../domain/model/workflow.ts'
import { evaluateFilters, evaluateTriggers, FILTERS_AT_ONCE_MAX } from './waiter-filters.ts'

const event = { id: 'evt_1', name: 'paid', data: '{"id":1}' }
const FILTER = 'async.data.id == event.data.id'

/** Waits of every kind: without a filter, met, not met, and one that cannot be evaluated. */
function waitersOf(size: number): Waiter[] {
  return Array.from({ length: size }, (_, i) => {
    const waiter = { runId: `run_${i}`, stepIndex: 0, since: i }
    const data = i % 4 === 3 ? '{}' : `{"id":${i % 2}}`
    return i % 5 === 0 ? waiter : { ...waiter, condition: { filter: FILTER, trigger: { name: 'order', data } } }
  })
}

test('a few waits are left to the decision', async () => {
  expect(await evaluateFilters(waitersOf(FILTERS_AT_ONCE_MAX - 1), event, () => {})).toBeUndefined()
})

test('many waits have the same results and faults as each of them alone', async () => {
  const waiters = waitersOf(3000)
  const [faults, expected]: FilterFault[][] = [[], []]
  const subject = new EventSubject(event)
  const met = waiters.filter(waiter => isAwaited(waiter, subject, fault => expected?.push(fault)))
  const awaited = await evaluateFilters(waiters, event, fault => faults?.push(fault))
  expect([...(awaited ?? [])]).toEqual(met)
  expect(met.length).toBeGreaterThan(600)
  expect(faults).toEqual(expected)
  expect(faults?.length).toBeGreaterThan(100)
})

/** How many turns of the event loop pass during the work. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isEvaluating = true
  const count = () => {
    turns++
    if (isEvaluating) setImmediate(count)
  }
  setImmediate(count)
  await work()
  isEvaluating = false
  return turns
}

test('between slices the event loop goes on', async () => {
  expect(await turnsDuring(() => evaluateFilters(waitersOf(3000), event, () => {}))).toBeGreaterThan(5)
})

/** Takes more work than an evaluation may do. */
const COSTLY = 'event.data.id == 1 && [1, 2, 3, 4, 5, 6, 7, 8, 9].all(x, event.name.split("").size() < 0 || x > 0)'

test('filters that take long leave a turn to the event loop after each, however few they are', async () => {
  const costly = { id: 'evt_2', name: 'p'.repeat(1000), data: '{"id":1}' }
  const trigger = { event: costly.name, if: Array(4).fill(`(${COSTLY})`).join(' && ') }
  const workflows = Array.from(
    { length: 20 },
    (_, i) => ({ app: 'a', name: `w${i}`, triggers: [trigger] }) as unknown as Workflow,
  )
  const faults: FilterFault[] = []
  let isMet: ReadonlyMap<Workflow, boolean> | undefined
  const turns = await turnsDuring(async () => {
    isMet = await evaluateTriggers(workflows, costly, fault => faults.push(fault))
  })
  expect([...(isMet?.values() ?? [])]).toEqual(workflows.map(() => true))
  expect(faults).toEqual([])
  expect(turns).toBeGreaterThan(5)
})
