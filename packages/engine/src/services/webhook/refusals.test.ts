// The memory of refused posts is bounded, and no namespace can displace the refusals of another.

import { expect, test } from 'vitest'
import type { Refusal } from '../../domain/webhook/refusal.ts'
import { Refusals } from './refusals.ts'

const refusal = (at: number): Refusal => ({ at, reason: 'unsigned', sizeBytes: 0 })
const timesOf = (refusals: Refusals, namespace: string, id: string) =>
  refusals.list({ namespace, id }).map(({ at }) => at)

test('the last 20 of a receiver are kept, newest first', () => {
  const refusals = new Refusals()
  for (let at = 0; at < 50; at++) refusals.add({ namespace: 'a', id: 'whr_1' }, refusal(at))
  expect(timesOf(refusals, 'a', 'whr_1')).toEqual(Array.from({ length: 20 }, (_, i) => 49 - i))
  expect(timesOf(refusals, 'b', 'whr_1')).toEqual([])
})

test('beyond the bound the namespace with the most receivers loses its quietest one', () => {
  const refusals = new Refusals({ receiversMax: 3 })
  refusals.add({ namespace: 'calm', id: 'whr_0' }, refusal(0))
  for (const id of ['whr_1', 'whr_2', 'whr_1', 'whr_3']) refusals.add({ namespace: 'noisy', id }, refusal(1))
  const counts = ['whr_1', 'whr_2', 'whr_3'].map(id => timesOf(refusals, 'noisy', id).length)
  expect([timesOf(refusals, 'calm', 'whr_0').length, ...counts]).toEqual([1, 2, 0, 1])
})
