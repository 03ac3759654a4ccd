// Which app may take a permit of the engine, with and without competition.

import { expect, test } from 'vitest'
import { FairPermits } from './fair-permits.ts'

const ofA = (permits: FairPermits, app = 'app') => fill(permits, 'a', app)

/** Takes as many permits as the app gets. */
function fill(permits: FairPermits, namespace: string, app = 'app'): number {
  let count = 0
  for (; permits.hasRoom(namespace, app); count++) permits.take(namespace, app)
  return count
}

test('a namespace finds permits although another one holds all', () => {
  const permits = new FairPermits(1000)
  ofA(permits)
  expect(fill(permits, 'b')).toBeGreaterThan(300)
  expect(ofA(permits)).toBe(0)
})

test('the reserve lasts for many namespaces whose passes hang, and has an end', () => {
  const permits = new FairPermits(1000)
  const taken = Array.from({ length: 100 }, (_, i) => fill(permits, `ns ${i}`))
  expect(taken.slice(0, 12).every(count => count >= 5)).toBe(true)
  expect(permits.taken).toBeLessThanOrEqual(2000)
})

test('an app finds permits although another app of its namespace holds all, from half of the reserve', () => {
  const permits = new FairPermits(1000)
  ofA(permits, 'one')
  const others = Array.from({ length: 100 }, (_, i) => ofA(permits, `app ${i}`))
  expect(others[0]).toBeGreaterThan(100)
  expect(permits.taken).toBeLessThanOrEqual(1500)
  expect(fill(permits, 'b')).toBeGreaterThan(100)
})

test('what is given back is free for anybody', () => {
  const permits = new FairPermits(10)
  ofA(permits)
  expect(fill(permits, 'b')).toBe(4)
  for (let i = 0; i < 5; i++) permits.giveBack('a', 'app')
  expect(permits.taken).toBe(9)
  expect(ofA(permits)).toBe(1)
  expect(permits.takenBy('a')).toBe(6)
})

test('a copy decides like the original, and empty permits are forgotten', () => {
  const permits = new FairPermits(4, [
    { namespace: 'a', app: 'x', taken: 3 },
    { namespace: 'b', app: 'y', taken: 1 },
  ])
  const copy = new FairPermits(4, permits.list())
  for (const [namespace, app] of [
    ['a', 'x'],
    ['a', 'z'],
    ['b', 'y'],
    ['c', 'w'],
  ] as const)
    expect(copy.hasRoom(namespace, app)).toBe(permits.hasRoom(namespace, app))
  permits.giveBack('b', 'y')
  expect(permits.list()).toEqual([{ namespace: 'a', app: 'x', taken: 3 }])
})
