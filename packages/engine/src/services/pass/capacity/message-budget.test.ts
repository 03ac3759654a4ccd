import { expect, test } from 'vitest'
import { VirtualClock } from '../../../adapters/clock/virtual.ts'
import { MessageBudget } from './message-budget.ts'

function budgetOf(max: number) {
  const clock = new VirtualClock()
  const budget = new MessageBudget({ max, clock })
  const granted: string[] = []
  const releases = new Map<string, () => void>()
  const reserve = (name: string, bytes: number) =>
    budget.reserve(bytes, release => {
      granted.push(name)
      releases.set(name, release)
    })
  return { clock, budget, granted, reserve, release: (name: string) => releases.get(name)?.() }
}

test('messages are granted in their order, as far as there is memory', () => {
  const { budget, granted, reserve, release } = budgetOf(100)
  reserve('a', 60)
  reserve('b', 50)
  reserve('c', 10)
  expect(granted).toEqual(['a'])
  expect(budget.waiting).toBe(2)
  release('a')
  release('a')
  expect(granted).toEqual(['a', 'b', 'c'])
  expect(budget.used).toBe(60)
})

test('one message is granted whatever its size', () => {
  const { granted, reserve, release } = budgetOf(100)
  reserve('a', 500)
  reserve('b', 500)
  expect(granted).toEqual(['a'])
  release('a')
  expect(granted).toEqual(['a', 'b'])
})

test('while runs have outgrown their memory, one is granted at a time and the next when a run has left, or after 100 ms', async () => {
  const { clock, budget, granted, reserve, release } = budgetOf(100)
  let isExceeded = true
  budget.isExceeded = () => isExceeded
  for (const name of ['a', 'b', 'c', 'd']) reserve(name, 10)
  expect(granted).toEqual(['a'])
  await clock.advance(1000)
  expect(granted).toEqual(['a'])
  release('a')
  expect(granted).toEqual(['a', 'b'])
  release('b')
  expect(granted).toEqual(['a', 'b'])
  await clock.advance(100)
  expect(granted).toEqual(['a', 'b', 'c'])
  isExceeded = false
  budget.roomChanged()
  expect(granted).toEqual(['a', 'b', 'c', 'd'])
})
