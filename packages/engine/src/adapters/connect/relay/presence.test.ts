// Which engine has which runner, and how much room it has: the messages that engines publish, receive and forget.

import { expect, test } from 'vitest'
import { connectUrl } from '../../../domain/model/connect-url.ts'
import { APP_RUNNER, connectRunner, RelayCluster, twoEngines } from './relay.testkit.ts'

test('every engine reaches a runner with a socket on one of them, and none reaches it without a socket', async () => {
  const cluster = new RelayCluster()
  const [one, two, three] = await cluster.engines('one', 'two', 'three')
  const runner = connectRunner(one!)
  await cluster.settle()
  for (const { relayed } of [one!, two!, three!]) expect(relayed.reaches(APP_RUNNER)).toBe(true)
  expect([one!.reachableApps, two!.reachableApps, three!.reachableApps]).toEqual([[], ['app'], ['app']])
  expect(two!.relayed.lastSeenAt(APP_RUNNER)).toBe(cluster.clock.now())
  runner.connection.close()
  await cluster.settle()
  for (const { relayed } of [one!, two!, three!]) expect(relayed.reaches(APP_RUNNER)).toBe(false)
  expect(two!.relayed.lastSeenAt(APP_RUNNER)).toBeUndefined()
})

test('an engine that starts later knows all runners at once, and its own are known', async () => {
  const cluster = new RelayCluster()
  const one = await cluster.engine('one')
  connectRunner(one)
  const [two] = await cluster.engines('two')
  expect(two!.relayed.reaches(APP_RUNNER)).toBe(true)
  connectRunner(two!, { url: connectUrl('default', 'app', 'r2') })
  await cluster.settle()
  expect(one.relayed.reaches(connectUrl('default', 'app', 'r2'))).toBe(true)
})

test('an engine that is silent is removed with its runners, and known again when it is back', async () => {
  const { cluster, two } = await twoEngines()
  cluster.network.cut('one')
  await cluster.clock.advance(8000)
  expect(two.relayed.reaches(APP_RUNNER)).toBe(true)
  await cluster.clock.advance(2000)
  expect(two.relayed.reaches(APP_RUNNER)).toBe(false)
  cluster.network.reconnect('one')
  await cluster.settle()
  expect(two.relayed.reaches(APP_RUNNER)).toBe(true)
  expect(two.reachableApps).toEqual(['app', 'app'])
})

test('a clock that leaps, as on a machine that slept, declares no engine dead', async () => {
  const { cluster, two } = await twoEngines()
  const reply = two.invoke()
  await cluster.settle()
  cluster.clock.leapTo(cluster.clock.now() + 3_600_000)
  expect(two.relayed.reaches(APP_RUNNER)).toBe(true)
  await cluster.clock.advance(20_000)
  expect(two.relayed.reaches(APP_RUNNER)).toBe(true)
  expect(await Promise.race([reply, 'under way'])).toBe('under way')
})

test('a change whose message was lost arrives after the next announcement', async () => {
  const cluster = new RelayCluster()
  const [one, two] = await cluster.engines('one', 'two')
  cluster.network.drops = message => message.includes(' moved ')
  connectRunner(one!)
  await cluster.settle()
  expect(two!.relayed.reaches(APP_RUNNER)).toBe(false)
  await cluster.clock.advance(2000)
  await cluster.settle()
  expect(two!.relayed.reaches(APP_RUNNER)).toBe(true)
})

test('an engine that leaves receives no further invokes, and finishes those under way', async () => {
  const { cluster, one, two, runner } = await twoEngines()
  const under = two.invoke()
  await cluster.settle()
  one.relayed.presence.leave()
  await cluster.settle()
  expect(two.relayed.reaches(APP_RUNNER)).toBe(false)
  expect(await two.invoke()).toEqual({ kind: 'refused', message: 'the runner is not connected' })
  const idle = one.relayed.host.idle(new AbortController().signal)
  runner.connection.result(runner.invokes[0]!.id, 200, '{"a":1}')
  expect(await under).toEqual({ kind: 'answered', status: 200, body: '{"a":1}' })
  await idle
})

test('the close of an engine breaks the calls under way on it at once', async () => {
  const { cluster, one, two } = await twoEngines()
  const reply = two.invoke()
  await cluster.settle()
  await one.relayed.close()
  expect(await reply).toMatchObject({ kind: 'broken' })
  await cluster.settle()
  expect(two.relayed.reaches(APP_RUNNER)).toBe(false)
})

test('waiting for the last call to end is over when the signal aborts', async () => {
  const { cluster, one, two } = await twoEngines()
  void two.invoke()
  await cluster.settle()
  const deadline = new AbortController()
  const idle = one.relayed.host.idle(deadline.signal)
  expect(await Promise.race([idle, cluster.settle().then(() => 'busy')])).toBe('busy')
  deadline.abort()
  await idle
})

test('every engine knows the room of a bounded runner, which changes with the invokes of all engines', async () => {
  const cluster = new RelayCluster()
  const [one, two, three] = await cluster.engines('one', 'two', 'three')
  const runner = connectRunner(one!, { maxConcurrency: 2 })
  await cluster.settle()
  const rooms = () => [one!, two!, three!].map(({ relayed }) => relayed.room(APP_RUNNER) !== 0)
  expect(rooms()).toEqual([true, true, true])
  // The engine counts its own invokes before any report arrives.
  void two!.invoke()
  void two!.invoke()
  expect(rooms()).toEqual([true, false, true])
  await cluster.clock.advance(100)
  expect(rooms()).toEqual([false, false, false])
  runner.connection.result(runner.invokes[0]!.id, 200, '{}')
  await cluster.clock.advance(100)
  expect(rooms()).toEqual([true, true, true])
  void one!.invoke()
  await cluster.clock.advance(100)
  expect(rooms()).toEqual([false, false, false])
})

test('a lost report of room does no lasting harm: no room is reported again, and no report counts for long', async () => {
  const { cluster, one, two, runner } = await twoEngines({ maxConcurrency: 1 })
  cluster.network.drops = message => message.includes(' room ')
  void one.invoke()
  await cluster.clock.advance(100)
  expect(two.relayed.room(APP_RUNNER)).not.toBe(0)
  cluster.network.drops = () => false
  await cluster.clock.advance(2000)
  expect(two.relayed.room(APP_RUNNER)).toBe(0)
  await cluster.clock.advance(60_000)
  expect(two.relayed.room(APP_RUNNER)).toBe(0)
  cluster.network.drops = message => message.includes(' room ')
  runner.connection.result(runner.invokes[0]!.id, 200, '{}')
  await cluster.clock.advance(8000)
  expect(two.relayed.room(APP_RUNNER)).not.toBe(0)
})

test('room that another engine waits for goes to it every other time', async () => {
  const { cluster, one, two } = await twoEngines({ maxConcurrency: 1 })
  expect(one.relayed.presence.yieldsRoom(APP_RUNNER)).toBe(false)
  two.relayed.requestRoom(APP_RUNNER)
  await cluster.settle()
  two.roomChanges.length = 0
  const yielded = [1, 2, 3, 4].map(() => one.relayed.presence.yieldsRoom(APP_RUNNER))
  expect(yielded).toEqual([true, false, true, false])
  await cluster.settle()
  expect(two.roomChanges).toEqual([APP_RUNNER, APP_RUNNER])
  await cluster.clock.advance(3000)
  expect(one.relayed.presence.yieldsRoom(APP_RUNNER)).toBe(false)
  two.relayed.requestRoom(APP_RUNNER)
  await cluster.settle()
  void one.invoke()
  expect(one.relayed.presence.yieldsRoom(APP_RUNNER), 'there is none').toBe(false)
})

test('an invoke of a runner with sockets on two engines goes to the one with room', async () => {
  const cluster = new RelayCluster()
  const [one, two, three] = await cluster.engines('one', 'two', 'three')
  const runners = [one!, two!].map(engine => connectRunner(engine, { maxConcurrency: 1 }))
  await cluster.settle()
  void three!.invoke()
  void three!.invoke()
  await cluster.settle()
  expect(runners.map(({ invokes }) => invokes.length)).toEqual([1, 1])
})

test('changes of room are published together, and not for runners without a bound', async () => {
  const cluster = new RelayCluster()
  const [one] = await cluster.engines('one', 'two')
  const runner = connectRunner(one!, { maxConcurrency: 1000 })
  connectRunner(one!, { url: connectUrl('default', 'app', 'free') })
  await cluster.settle()
  const before = cluster.network.count('room')
  for (let i = 0; i < 100; i++) {
    void one!.invoke()
    void one!.invoke({ url: connectUrl('default', 'app', 'free') })
  }
  await cluster.clock.advance(100)
  expect(runner.invokes).toHaveLength(100)
  expect(cluster.network.count('room') - before).toBe(1)
  expect(cluster.network.sent.filter(({ message }) => message.includes(' room ') && message.includes('free'))).toEqual(
    [],
  )
})

test('the room of a thousand runners is published in messages that a broadcast can hold', async () => {
  const cluster = new RelayCluster()
  const [one] = await cluster.engines('one', 'two')
  const url = (i: number) => connectUrl('default', 'app', `runner-with-a-long-name-${i}`)
  for (let i = 0; i < 1000; i++) connectRunner(one!, { url: url(i), maxConcurrency: 1 })
  await cluster.settle()
  for (let i = 0; i < 1000; i++) void one!.invoke({ url: url(i) })
  await cluster.clock.advance(100)
  const lengths = cluster.network.sent.filter(({ to }) => to === undefined).map(({ message }) => message.length)
  expect(Math.max(...lengths)).toBeLessThanOrEqual(7800)
})

test('a closed engine holds no timer', async () => {
  const { cluster, one, two, runner } = await twoEngines({ maxConcurrency: 1 })
  const reply = two.invoke()
  await cluster.settle()
  runner.connection.result(runner.invokes[0]!.id, 200, '{}')
  await reply
  await Promise.all([one.relayed.close(), two.relayed.close()])
  expect(cluster.clock.nextTimer()).toBeUndefined()
})

test('a heartbeat beside the socket reaches the engine that has it, of its namespace, while an invoke is under way', async () => {
  const { cluster, two, runner } = await twoEngines({ instance: 'i-0' })
  const beat = async (namespace: string, ...instances: string[]) => {
    two.local.beat(namespace, { instances, step: 'pay\n€' })
    await cluster.settle()
    return runner.beats
  }
  expect(await beat('default', 'i-0')).toEqual([])
  void two.invoke()
  await cluster.settle()
  expect(await beat('other', 'i-0')).toEqual([])
  expect(await beat('default', 'i-1')).toEqual([])
  expect(await beat('default', 'i-1', 'i-0')).toEqual(['pay\n€'])
})
