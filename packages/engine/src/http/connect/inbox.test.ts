// Messages of a socket that wait for memory: they keep their order, and the socket is not read meanwhile.

import { expect, test } from 'vitest'
import { VirtualClock } from '../../adapters/clock/virtual.ts'
import { MessagePermits } from '../../services/pass/permits/message-permits.ts'
import { Inbox } from './inbox.ts'

const LARGE = 100_000

function opened(max: number) {
  const memory = new MessagePermits({ max, clock: new VirtualClock() })
  const events: string[] = []
  const inbox = new Inbox({
    memory,
    socket: { pause: () => events.push('pause'), resume: () => events.push('resume') },
    receive: text => events.push(text.slice(0, 2)),
  })
  return { memory, events, take: (name: string, length = 2) => inbox.take(Buffer.from(name.padEnd(length, '.'))) }
}

test('small messages, and large ones that there is memory for, are received at once', () => {
  const { memory, events, take } = opened(LARGE)
  take('a1')
  take('b1', LARGE)
  take('b2', LARGE)
  take('a2')
  expect(events).toEqual(['a1', 'b1', 'b2', 'a2'])
  expect(memory.used).toBe(0)
})

test('a large one waits for memory and those behind it wait too, in their order, while the socket is not read', () => {
  const { memory, events, take } = opened(LARGE)
  const release = memory.take(LARGE)
  take('a1')
  take('b1', LARGE)
  for (const name of ['a2', 'a3']) take(name)
  take('b2', LARGE)
  take('a4')
  expect(events).toEqual(['a1', 'pause'])
  expect(memory.waiting).toBe(1)
  release()
  expect(events).toEqual(['a1', 'pause', 'b1', 'a2', 'a3', 'b2', 'a4', 'resume'])
  expect([memory.used, memory.waiting]).toEqual([0, 0])
})

test('of two that wait the second waits again if the first is kept', () => {
  const { memory, events, take } = opened(LARGE)
  const releases = [memory.take(LARGE)]
  take('b1', LARGE)
  take('b2', LARGE)
  // The message is kept after its receipt, like an answer until its steps are stored.
  memory.request(LARGE, release => releases.push(release))
  releases[0]?.()
  expect(events).toEqual(['pause', 'b1', 'pause'])
  releases[1]?.()
  expect(events).toEqual(['pause', 'b1', 'pause', 'b2', 'resume'])
})
