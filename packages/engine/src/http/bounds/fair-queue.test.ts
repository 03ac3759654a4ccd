// FairQueue: namespaces take turns, and so do the keys of one.

import { expect, test } from 'vitest'
import { type Caller, FairQueue } from './fair-queue.ts'

const flooder: Caller = { namespace: 'loud', keyId: 'flood' }
const colleague: Caller = { namespace: 'loud', keyId: 'other' }
const stranger: Caller = { namespace: 'quiet' }

interface Item {
  name: string
  bytes: number
}

function filled(entries: readonly [Caller, string][]) {
  const queue = new FairQueue<Item>()
  const items = new Map<string, Item>()
  for (const [caller, name] of entries) {
    const item = { name, bytes: 10 }
    items.set(name, item)
    queue.push(caller, item)
  }
  return { queue, item: (name: string) => items.get(name) as Item }
}

function drained(queue: FairQueue<Item>): string[] {
  const names: string[] = []
  for (let item = queue.shift(); item; item = queue.shift()) names.push(item.name)
  return names
}

test("the items of one caller keep their order, and another namespace's item is next but one", () => {
  const { queue } = filled([
    [flooder, 'f1'],
    [flooder, 'f2'],
    [flooder, 'f3'],
    [stranger, 's1'],
  ])
  expect(queue.all).toEqual({ count: 4, bytes: 40 })
  expect(queue.loadOf(flooder).key).toMatchObject({ count: 3, bytes: 30 })
  expect(queue.loadOf(colleague)).toMatchObject({ namespace: { count: 3 }, key: { count: 0 } })
  expect(drained(queue)).toEqual(['f1', 's1', 'f2', 'f3'])
  expect(queue.all).toEqual({ count: 0, bytes: 0 })
})

test('a namespace with many keys has no more turns than one with a single key', () => {
  const { queue } = filled([
    [flooder, 'f1'],
    [flooder, 'f2'],
    [colleague, 'c1'],
    [colleague, 'c2'],
    [stranger, 's1'],
    [stranger, 's2'],
  ])
  expect(drained(queue)).toEqual(['f1', 's1', 'c1', 's2', 'f2', 'c2'])
})

test('a caller that comes later has its turn after those that wait, whoever had turns before', () => {
  const { queue } = filled([
    [flooder, 'f1'],
    [flooder, 'f2'],
  ])
  expect(queue.shift()?.name).toBe('f1')
  queue.push(stranger, { name: 's1', bytes: 0 })
  expect(drained(queue)).toEqual(['f2', 's1'])
})

test('a removed item is not shifted, and removing it again changes nothing', () => {
  const { queue, item } = filled([
    [flooder, 'f1'],
    [stranger, 's1'],
    [flooder, 'f2'],
  ])
  queue.remove(stranger, item('s1'))
  queue.remove(stranger, item('s1'))
  queue.remove(flooder, item('f1'))
  queue.remove(colleague, item('f2'))
  expect(queue.all).toEqual({ count: 1, bytes: 10 })
  expect(queue.loadOf(stranger).namespace.count).toBe(0)
  expect(drained(queue)).toEqual(['f2'])
})
