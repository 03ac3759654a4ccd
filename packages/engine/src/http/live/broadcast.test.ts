import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { VirtualClock } from '../../adapters/clock/virtual.ts'
import { Live, Topic } from '../../services/live/live.ts'
import { Broadcast, SLICE_STREAMS } from './broadcast.ts'
import { FanOut } from './fan-out.ts'

const MANY = 50 * SLICE_STREAMS

class Reader {
  text = ''
  writes = 0
  leave = (): void => {}

  offer(bytes: Buffer): void {
    this.writes++
    this.text += bytes
  }
}

function setUp(everyMs = 0) {
  const clock = new VirtualClock()
  const broadcast = new Broadcast({ clock, everyMs })
  let encoded = 0
  const send = (text: string, key?: string) => {
    const bytes = () => {
      encoded++
      return Buffer.from(text)
    }
    broadcast.send({ size: text.length, bytes, ...(key !== undefined && { key }) })
  }
  const join = (count: number) =>
    Array.from({ length: count }, () => {
      const reader = new Reader()
      broadcast.add(reader)
      reader.leave = () => broadcast.remove(reader)
      return reader
    })
  return { clock, broadcast, send, join, encoded: () => encoded }
}

/** Waits until the rounds under way and the pauses after them have ended. */
async function settle(clock: VirtualClock): Promise<void> {
  for (let i = 0; i < 3; i++) {
    for (let turn = 0; turn < 2 * (MANY / SLICE_STREAMS); turn++) await nextTurn()
    await clock.advance(10_000)
  }
}

test('a message is sent at once, and the next ones together, encoded once for all', async () => {
  const { clock, send, join, encoded } = setUp()
  const readers = join(20)
  for (const text of ['one ', 'two ', 'three ']) send(text)
  expect(new Set(readers.map(({ text }) => text))).toEqual(new Set(['one ']))
  await clock.advance(9)
  expect(readers[0]?.writes).toBe(1)
  await clock.advance(1)
  expect(new Set(readers.map(({ text }) => text))).toEqual(new Set(['one two three ']))
  expect([readers[0]?.writes, encoded()]).toEqual([2, 3])
})

test('a few streams need no pause but a turn of the event loop', async () => {
  const { send, join } = setUp()
  const [reader] = join(4)
  send('one ')
  send('two ')
  await nextTurn()
  await nextTurn()
  expect(reader?.text).toBe('one two ')
})

test('a message that waits is replaced by one with its key, which is then the newest', async () => {
  const { clock, send, join, encoded } = setUp(250)
  const [reader] = join(1)
  for (const [text, key] of ['a1 a', 'a2 a', 'b1 b', 'a3 a'].map(pair => pair.split(' '))) send(`${text} `, key)
  await clock.advance(250)
  expect(reader?.text).toBe('a1 b1 a3 ')
  expect(encoded()).toBe(3)
})

test('thousands of streams: publishing waits for one slice, and the rate of writes does not rise', async () => {
  const { clock, send, join } = setUp()
  const readers = join(MANY)
  const written = () => readers.reduce((sum, { writes }) => sum + writes, 0)
  for (let i = 0; i < 100; i++) send(`${i},`)
  expect(written()).toBe(SLICE_STREAMS)
  await settle(clock)
  const all = Array.from({ length: 100 }, (_, i) => `${i},`).join('')
  expect(readers.every(({ text }) => text === all)).toBe(true)
  expect(written()).toBe(2 * MANY)
})

test('a stream gets nothing that was published before it came, and nothing after it left', async () => {
  const { clock, send, join } = setUp()
  const [gone] = join(MANY)
  send('1')
  send('2')
  const [late] = join(1)
  gone?.leave()
  send('3')
  await settle(clock)
  expect([gone?.text, late?.text]).toEqual(['1', '3'])
})

test('of more than may wait for many streams the newest is sent, with the number of what is left out', async () => {
  const { clock, broadcast, send, join } = setUp()
  const [reader] = join(1)
  for (let i = 1; i < 4 * 1024; i++) broadcast.add({ offer: () => {} })
  send('first')
  for (const name of ['a', 'b', 'c', 'd']) send(name.repeat(6000))
  await settle(clock)
  expect(reader?.text).toBe(`first: skipped 2\n\n${'c'.repeat(6000)}${'d'.repeat(6000)}`)
  send('x'.repeat(100_000))
  await settle(clock)
  expect(reader?.text).toHaveLength(5 + 13 + 12_000 + 100_000)
})

test('the pause after a round grows with the bytes that it wrote', async () => {
  const { clock, send, join } = setUp()
  const [reader] = join(1)
  send('x'.repeat(1024 * 1024))
  send('next')
  await clock.advance(63)
  expect(reader?.writes).toBe(1)
  await clock.advance(1)
  expect(reader?.writes).toBe(2)
})

test('one that is closed in a pause leaves no timer behind', async () => {
  const { clock, broadcast, send, join } = setUp(250)
  join(1)
  send('one')
  broadcast.close()
  await nextTurn()
  expect(clock.timerCount).toBe(0)
})

test('the streams of a namespace count as listeners, and those of others cost a message nothing', async () => {
  const clock = new VirtualClock()
  const topic = new Topic<string>()
  let encoded = 0
  const encode = (text: string) => text.repeat(++encoded)
  const fanOut = new FanOut({ topic, clock, gaps: new Live(), encode, sizeOf: text => text.length })
  const readers = Array.from({ length: 60 }, (_, i) => {
    const reader = new Reader()
    reader.leave = fanOut.join(i === 0 ? 'a' : 'others', reader)
    return reader
  })
  expect(topic.size).toBe(60)
  topic.publish('a', '.')
  topic.publish('nobody', '.')
  expect([readers[0]?.text, readers[1]?.text, encoded]).toEqual(['.', '', 1])
  for (const { leave } of readers) leave()
  expect([topic.size, topic.has('a')]).toEqual([0, false])
  await settle(clock)
  expect(clock.timerCount).toBe(0)
})

test('an item that is left out is never encoded', async () => {
  const clock = new VirtualClock()
  const topic = new Topic<string>()
  const encoded: string[] = []
  const encode = (text: string) => {
    encoded.push(text)
    return text
  }
  const fanOut = new FanOut({ topic, clock, gaps: new Live(), encode, sizeOf: () => 10_000 })
  const readers = Array.from({ length: 1024 }, () => new Reader())
  const leaves = readers.map(reader => fanOut.join('a', reader))
  for (const text of ['first ', 'left out', 'last']) topic.publish('a', text)
  await settle(clock)
  expect([encoded, readers[0]?.text]).toEqual([['first ', 'last'], 'first : skipped 1\n\nlast'])
  for (const leave of leaves) leave()
})
