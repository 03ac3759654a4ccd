import { expect, test } from 'vitest'
import { VirtualClock } from '../../../adapters/clock/virtual.ts'
import { MessagePermits } from './message-permits.ts'

function permitsOf(max: number) {
  const clock = new VirtualClock()
  const permits = new MessagePermits({ max, clock })
  const granted: string[] = []
  const releases = new Map<string, () => void>()
  const request = (name: string, bytes: number) =>
    permits.request(bytes, release => {
      granted.push(name)
      releases.set(name, release)
    })
  return { clock, permits, granted, request, release: (name: string) => releases.get(name)?.() }
}

test('messages are granted in their order, as far as there is memory', () => {
  const { permits, granted, request, release } = permitsOf(100)
  request('a', 60)
  request('b', 50)
  request('c', 10)
  expect(granted).toEqual(['a'])
  expect(permits.waiting).toBe(2)
  release('a')
  release('a')
  expect(granted).toEqual(['a', 'b', 'c'])
  expect(permits.used).toBe(60)
})

test('one message is granted whatever its size', () => {
  const { granted, request, release } = permitsOf(100)
  request('a', 500)
  request('b', 500)
  expect(granted).toEqual(['a'])
  release('a')
  expect(granted).toEqual(['a', 'b'])
})

test('while runs have outgrown their memory, one is granted at a time and the next when a run has left, or after 100 ms', async () => {
  const { clock, permits, granted, request, release } = permitsOf(100)
  let isExceeded = true
  permits.isExceeded = () => isExceeded
  for (const name of ['a', 'b', 'c', 'd']) request(name, 10)
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
  permits.roomChanged()
  expect(granted).toEqual(['a', 'b', 'c', 'd'])
})
