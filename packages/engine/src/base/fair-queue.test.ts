// FairQueue: keys take turns.

import { expect, test } from 'vitest'
import { FairQueue } from './fair-queue.ts'

/** A queue with these items; the key of each is its first letter. */
function filled(...items: string[]): FairQueue<string> {
  const queue = new FairQueue<string>()
  for (const item of items) queue.push(item.charAt(0), item)
  return queue
}

function drained(queue: FairQueue<string>): string[] {
  const items: string[] = []
  for (let item = queue.shift(); item; item = queue.shift()) items.push(item)
  return items
}

test('the items of one key keep their order, and the item of another key is next but one', () => {
  const queue = filled('a1', 'a2', 'a3', 'b1')
  expect(queue.count).toBe(4)
  expect(queue.of('a')).toHaveLength(3)
  expect(queue.of('c')).toEqual([])
  expect(drained(queue)).toEqual(['a1', 'b1', 'a2', 'a3'])
  expect(queue.count).toBe(0)
})

test('a key that comes later has its turn after those that wait, whichever had turns before', () => {
  const queue = filled('a1', 'a2')
  expect(queue.shift()).toBe('a1')
  queue.push('b', 'b1')
  expect(drained(queue)).toEqual(['a2', 'b1'])
})

test('a removed item is not shifted, and removing it again changes nothing', () => {
  const queue = filled('a1', 'b1', 'a2')
  expect(['b1', 'b1', 'a1', 'a1'].map(item => queue.remove(item.charAt(0), item))).toEqual([true, false, true, false])
  expect(queue.count).toBe(1)
  expect(drained(queue)).toEqual(['a2'])
})

test('a search goes through the keys by their turns, and leaves what it finds in the queue', () => {
  const queue = filled('a1', 'a2', 'b1', 'c1')
  queue.endTurn('a')
  expect(queue.find(([item]) => item)).toBe('b1')
  expect(queue.find((items, key) => (key === 'b' ? undefined : items.at(-1)))).toBe('c1')
  expect(queue.find(items => items.find(item => item === 'a2'))).toBe('a2')
  expect(queue.count).toBe(4)
})
