// Which app may take a place of the engine, with and without competition.

import { expect, test } from 'vitest'
import { Places } from './places.ts'

const ofA = (places: Places, app = 'app') => fill(places, 'a', app)

/** Takes as many places as the app gets. */
function fill(places: Places, namespace: string, app = 'app'): number {
  let count = 0
  for (; places.hasRoom(namespace, app); count++) places.take(namespace, app)
  return count
}

test('a namespace alone gets all places, and no more', () => {
  const places = new Places(1000)
  expect(ofA(places)).toBe(1000)
  expect(places.taken).toBe(1000)
})

test('a namespace finds places although another one holds all', () => {
  const places = new Places(1000)
  ofA(places)
  expect(fill(places, 'b')).toBeGreaterThan(300)
  expect(ofA(places)).toBe(0)
})

test('the reserve lasts for many namespaces whose passes hang, and has an end', () => {
  const places = new Places(1000)
  const taken = Array.from({ length: 100 }, (_, i) => fill(places, `ns ${i}`))
  expect(taken.slice(0, 12).every(count => count >= 5)).toBe(true)
  expect(places.taken).toBeLessThanOrEqual(2000)
})

test('an app finds places although another app of its namespace holds all, from half of the reserve', () => {
  const places = new Places(1000)
  ofA(places, 'one')
  const others = Array.from({ length: 100 }, (_, i) => ofA(places, `app ${i}`))
  expect(others[0]).toBeGreaterThan(100)
  expect(places.taken).toBeLessThanOrEqual(1500)
  expect(fill(places, 'b')).toBeGreaterThan(100)
})

test('what is given back is free for anybody', () => {
  const places = new Places(10)
  ofA(places)
  expect(fill(places, 'b')).toBe(4)
  for (let i = 0; i < 5; i++) places.giveBack('a', 'app')
  expect(places.taken).toBe(9)
  expect(ofA(places)).toBe(1)
  expect(places.takenBy('a')).toBe(6)
})

test('a copy decides like the original, and empty places are forgotten', () => {
  const places = new Places(4, [
    { namespace: 'a', app: 'x', taken: 3 },
    { namespace: 'b', app: 'y', taken: 1 },
  ])
  const copy = new Places(4, places.list())
  for (const [namespace, app] of [
    ['a', 'x'],
    ['a', 'z'],
    ['b', 'y'],
    ['c', 'w'],
  ] as const)
    expect(copy.hasRoom(namespace, app)).toBe(places.hasRoom(namespace, app))
  places.giveBack('b', 'y')
  expect(places.list()).toEqual([{ namespace: 'a', app: 'x', taken: 3 }])
})
