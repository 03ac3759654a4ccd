// Streams of one engine are notified about commits of another engine while they are open.

import { afterAll, expect, onTestFinished, test } from 'vitest'
import { LoopbackNetwork } from '../../adapters/bus/loopback.testkit.ts'
import { VirtualClock } from '../../adapters/clock/virtual.ts'
import { openSqliteStore } from '../../adapters/sql/sqlite/store.ts'
import type { Event } from '../../domain/model/event.ts'
import { event } from '../../domain/testkit/nouns.testkit.ts'
import { BROADCAST_BYTES_MAX } from '../../ports/bus.ts'
import { Live, type RunMove } from './live.ts'
import { LiveShare } from './live-share.ts'

const store = await openSqliteStore({ file: ':memory:' })
afterAll(() => store.close())

async function engines(count = 2, seed = 1) {
  const clock = new VirtualClock()
  const network = new LoopbackNetwork(clock, seed)
  const lives: Live[] = []
  const shares: LiveShare[] = []
  for (let i = 0; i < count; i++) {
    const live = new Live()
    lives.push(live)
    shares.push(new LiveShare({ bus: await network.open(`engine${i}`), live, store, clock }))
  }
  for (const share of shares) share.start()
  onTestFinished(async () => void (await Promise.all(shares.map(share => share.stop()))))
  const settle = () => clock.advance(20)
  return { clock, network, lives, shares, settle, one: lives[0]!, two: lives[1]! }
}

const MOVE: RunMove = {
  runId: 'run_1',
  workflow: 'w',
  app: 'shop',
  seq: 2,
  ts: 1,
  status: 'running',
  attempt: 1,
}

test('a stream of one engine is notified when another commits something of its run, and only of its run', async () => {
  const { one, two, settle } = await engines()
  let notifications = 0
  two.runs.on('run_1', () => notifications++)
  await settle()
  one.runs.publish('run_1', undefined)
  one.runs.publish('run_1', undefined)
  one.runs.publish('run_2', undefined)
  await settle()
  expect(notifications).toBe(1)
  one.runs.publish('run_1', undefined)
  await settle()
  expect(notifications).toBe(2)
})

test('status changes of all runs of a namespace come in order, complete', async () => {
  const { one, two, settle } = await engines()
  const got: RunMove[] = []
  two.moves.on('default', move => got.push(move))
  await settle()
  const moves = [1, 2, 3].map(seq => ({ ...MOVE, seq }))
  for (const move of moves) one.moves.publish('default', move)
  one.moves.publish('other', MOVE)
  await settle()
  expect(got).toEqual(moves)
})

test('an event is read from the store, however long it is; one that is not there is skipped', async () => {
  const { one, two, settle } = await engines()
  const got: Event[] = []
  two.events.on('default', told => got.push(told))
  await settle()
  const long = event('evt_1', 'long', { data: JSON.stringify('x'.repeat(500_000)) as Event['data'] & string })
  await store.commit({ guards: [], changes: [{ type: 'event.recorded', event: long }] })
  one.events.publish('default', long)
  one.events.publish('default', event('evt_2', 'never recorded'))
  await settle()
  expect(got.map(({ id, data }) => [id, data])).toEqual([['evt_1', long.data]])
})

test('where no stream follows anything, no message is sent', async () => {
  const { network, one, clock } = await engines()
  for (let i = 0; i < 100; i++) {
    one.runs.publish(`run_${i}`, undefined)
    one.moves.publish('default', MOVE)
    one.events.publish('default', event(`evt_${i}`, 'seen'))
  }
  await clock.advance(60_000)
  expect(network.sent).toEqual([])
})

test('a stream is followed as long as it is open, and soon after it closes no longer', async () => {
  const { network, one, two, clock, settle } = await engines()
  const stop = two.runs.on('run_1', () => {})
  await clock.advance(120_000)
  const published = async () => {
    const before = network.count('runs')
    one.runs.publish('run_1', undefined)
    await settle()
    return network.count('runs') - before
  }
  expect(await published()).toBe(1)
  stop()
  await clock.advance(25_000)
  expect(await published()).toBe(0)
})

test('what a stream follows is said again: a message that was lost is made up for, and so is a line that was down', async () => {
  const { network, one, two, clock, settle } = await engines()
  let notifications = 0
  network.drops = () => true
  two.runs.on('run_1', () => notifications++)
  await settle()
  network.drops = () => false
  one.runs.publish('run_1', undefined)
  await settle()
  expect(notifications).toBe(0)
  await clock.advance(6000)
  one.runs.publish('run_1', undefined)
  await settle()
  expect(notifications).toBe(1)
  network.cut('engine1')
  await clock.advance(60_000)
  one.runs.publish('run_1', undefined)
  await settle()
  expect(notifications).toBe(1)
  network.reconnect('engine1')
  await settle()
  one.runs.publish('run_1', undefined)
  await settle()
  expect(notifications).toBe(2)
})

test('a new engine knows within seconds what the streams of the others follow', async () => {
  const { network, two, clock, settle } = await engines()
  let notifications = 0
  two.runs.on('run_1', () => notifications++)
  await settle()
  const live = new Live()
  const share = new LiveShare({ bus: await network.open('new'), live, store, clock })
  share.start()
  await clock.advance(6000)
  live.runs.publish('run_1', undefined)
  await settle()
  expect(notifications).toBe(1)
  await share.stop()
})

test('repeated and reordered messages notify too often at most', async () => {
  const { network, lives, clock } = await engines(3, 7)
  network.faults = { lost: 0, repeated: 0.5, delayMsMax: 500 }
  const notifications = new Map<string, number>()
  for (const [i, live] of lives.entries())
    live.runs.on('run_1', () => notifications.set(`${i}`, (notifications.get(`${i}`) ?? 0) + 1))
  await clock.advance(2000)
  lives[0]!.runs.publish('run_1', undefined)
  await clock.advance(2000)
  expect(notifications.get('0')).toBe(1)
  for (const i of ['1', '2']) expect(notifications.get(i)).toBeGreaterThanOrEqual(1)
})

test('thousands of streams are announced in messages of bounded size, and notified together', async () => {
  const { network, one, two, clock } = await engines()
  const notified = new Set<string>()
  const ids = Array.from({ length: 3000 }, (_, i) => `run_${String(i).padStart(26, '0')}`)
  for (const id of ids) two.runs.on(id, () => notified.add(id))
  await clock.advance(10_000)
  const before = network.count('runs')
  for (const id of ids) one.runs.publish(id, undefined)
  await clock.advance(100)
  expect(notified.size).toBe(3000)
  expect(network.count('runs') - before).toBeLessThan(20)
  for (const { message } of network.sent)
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(BROADCAST_BYTES_MAX + 100)
})

test('the keys that others follow are held up to a bound', async () => {
  const { network, one, two, clock } = await engines()
  for (let i = 0; i < 12_000; i++) two.runs.on(`run_${i}`, () => {})
  await clock.advance(1000)
  expect(network.count('follow')).toBe(12_000)
  const followed = Array.from({ length: 12_000 }, (_, i) => one.runs.has(`run_${i}`)).filter(Boolean)
  expect(followed).toHaveLength(10_000)
})

test('at most a thousand events are read at once, and more when those are read', async () => {
  const clock = new VirtualClock()
  const network = new LoopbackNetwork(clock)
  let reads = 0
  let answer = () => {}
  const answered = new Promise<void>(resolve => {
    answer = resolve
  })
  // A slow store: its answers wait for the test.
  const slow = {
    in: (namespace: string) => ({
      ...store.in(namespace),
      async event(id: string) {
        reads++
        await answered
        return store.in(namespace).event(id)
      },
    }),
  }
  const [one, two] = [new Live(), new Live()]
  const shares = [
    new LiveShare({ bus: await network.open('one'), live: one, store, clock }),
    new LiveShare({ bus: await network.open('two'), live: two, store: slow, clock }),
  ]
  const stop = two.events.on('default', () => {})
  await clock.advance(10)
  for (let i = 0; i < 1500; i++) one.events.publish('default', event(`evt_${i}`, 'seen'))
  await clock.advance(10)
  expect(reads).toBe(1000)
  answer()
  await clock.advance(10)
  one.events.publish('default', event('evt_last', 'seen'))
  await clock.advance(10)
  expect(reads).toBe(1001)
  // The others do not know yet that no stream follows any more.
  stop()
  one.events.publish('default', event('evt_unread', 'seen'))
  await clock.advance(10)
  expect(reads).toBe(1001)
  await Promise.all(shares.map(share => share.stop()))
})

test('a stopped share sends nothing more and holds no timer', async () => {
  const { network, one, two, shares, clock, settle } = await engines()
  two.runs.on('run_1', () => {})
  await settle()
  one.runs.publish('run_1', undefined)
  await Promise.all(shares.map(share => share.stop()))
  const { length } = network.sent
  await clock.advance(60_000)
  expect(network.sent).toHaveLength(length)
  expect(clock.nextTimer()).toBeUndefined()
})

test('an engine whose messages were lost tells its streams of the gap', async () => {
  const { network, two, settle } = await engines()
  let gaps = 0
  two.onGap(() => gaps++)
  network.cut('engine1')
  expect(gaps).toBe(0)
  network.reconnect('engine1')
  await settle()
  expect(gaps).toBe(1)
})
