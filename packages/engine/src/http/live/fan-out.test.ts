import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { VirtualClock } from '../../adapters/clock/virtual.ts'
import { Topic } from '../../services/live/live.ts'
import { FanOut, SLICE_STREAMS } from './fan-out.ts'

const MANY = 50 * SLICE_STREAMS

function setUp() {
  const clock = new VirtualClock()
  const topic = new Topic<string>()
  let encoded = 0
  const encode = (text: string) => {
    encoded++
    return Buffer.from(text)
  }
  const fanOut = new FanOut({ topic, clock, encode })
  let writes = 0
  const join = (namespace: string) => {
    const stream = {
      text: '',
      offer(bytes: Buffer) {
        writes++
        stream.text += bytes
      },
      leave: () => {},
    }
    stream.leave = fanOut.join(namespace, stream)
    return stream
  }
  const joinMany = (namespace: string) => Array.from({ length: MANY }, () => join(namespace))
  /** Lets the rounds under way end, and the pauses after them. */
  const settle = async () => {
    for (let i = 0; i < 2 * (MANY / SLICE_STREAMS); i++) await nextTurn()
    await clock.advance(10_000)
    for (let i = 0; i < 2 * (MANY / SLICE_STREAMS); i++) await nextTurn()
    await clock.advance(10_000)
  }
  return { clock, topic, fanOut, join, joinMany, settle, counts: () => ({ encoded, writes }) }
}

test('few streams get each message at once', () => {
  const { topic, join } = setUp()
  const streams = Array.from({ length: SLICE_STREAMS }, () => join('a'))
  topic.publish('a', 'one ')
  topic.publish('a', 'two ')
  expect(new Set(streams.map(({ text }) => text))).toEqual(new Set(['one two ']))
})

test('thousands of streams of other namespaces cost a message nothing', () => {
  const { topic, join, joinMany, counts } = setUp()
  joinMany('others')
  const stream = join('a')
  for (let i = 0; i < 100; i++) topic.publish('a', '.')
  for (let i = 0; i < 100; i++) topic.publish('nobody', '.')
  expect(stream.text).toHaveLength(100)
  expect(counts()).toEqual({ encoded: 100, writes: 100 })
})

test('thousands of streams of one namespace: publishing waits for one slice, and they get all messages in few writes', async () => {
  const { topic, joinMany, settle, counts } = setUp()
  const streams = joinMany('a')
  for (let i = 0; i < 100; i++) topic.publish('a', `${i},`)
  expect(counts()).toEqual({ encoded: 100, writes: SLICE_STREAMS })
  await settle()
  const all = Array.from({ length: 100 }, (_, i) => `${i},`).join('')
  expect(streams.every(({ text }) => text === all)).toBe(true)
  expect(counts().writes).toBe(2 * MANY)
})

test('a stream gets nothing that was published before it came, and nothing after it left', async () => {
  const { topic, join, joinMany, settle } = setUp()
  const [gone] = joinMany('a')
  topic.publish('a', '1')
  topic.publish('a', '2')
  const late = join('a')
  gone?.leave()
  topic.publish('a', '3')
  await settle()
  expect([gone?.text, late.text]).toEqual(['1', '3'])
})

test('much that waits is sent to all at once, in order', async () => {
  const { clock, topic, fanOut } = setUp()
  const received = Array.from({ length: 3 * SLICE_STREAMS }, () => [] as number[])
  for (const lengths of received) fanOut.join('a', { offer: ({ length }) => lengths.push(length) })
  topic.publish('a', 'first')
  topic.publish('a', 'x'.repeat(600_000))
  topic.publish('a', 'x'.repeat(600_000))
  for (const lengths of received) expect(lengths).toEqual([5, 1_200_000])
  await clock.advance(10_000)
  for (const lengths of received) expect(lengths).toHaveLength(2)
})

test('counts its streams as listeners, and leaves no listener or timer behind', async () => {
  const { clock, topic, joinMany, settle } = setUp()
  const streams = joinMany('a')
  expect(topic.size).toBe(MANY)
  topic.publish('a', 'one')
  await nextTurn()
  for (const { leave } of streams) leave()
  expect([topic.size, topic.has('a')]).toEqual([0, false])
  await settle()
  expect(clock.timerCount).toBe(0)
})
