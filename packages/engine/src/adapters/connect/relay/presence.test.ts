// Who is known to be where, and with how much room: what engines say of it, hear of it, and forget.

import { expect, test } from 'vitest'
import { connectUrl } from '../../../domain/model/connect-url.ts'
import { APP_RUNNER, hold, RelayWorld, twoEngines } from './relay.testkit.ts'

test('a runner is reached from every engine as soon as it has a socket on one, and no more without one', async () => {
  const world = new RelayWorld()
  const [one, two, three] = await world.engines('one', 'two', 'three')
  const runner = hold(one!)
  await world.settle()
  for (const { relayed } of [one!, two!, three!]) expect(relayed.reaches(APP_RUNNER)).toBe(true)
  expect([one!.arrived, two!.arrived, three!.arrived]).toEqual([[], ['app'], ['app']])
  expect(two!.relayed.lastSeenAt(APP_RUNNER)).toBe(world.clock.now())
  runner.session.close()
  await world.settle()
  for (const { relayed } of [one!, two!, three!]) expect(relayed.reaches(APP_RUNNER)).toBe(false)
  expect(two!.relayed.lastSeenAt(APP_RUNNER)).toBeUndefined()
})

test('an engine that comes later knows at once who is where, and is known', async () => {
  const world = new RelayWorld()
  const one = await world.engine('one')
  hold(one)
  const [two] = await world.engines('two')
  expect(two!.relayed.reaches(APP_RUNNER)).toBe(true)
  hold(two!, { url: connectUrl('default', 'app', 'r2') })
  await world.settle()
  expect(one.relayed.reaches(connectUrl('default', 'app', 'r2'))).toBe(true)
})

test('an engine that falls silent is forgotten with its runners, and known again when it is back', async () => {
  const { world, two } = await twoEngines()
  world.loop.cut('one')
  await world.clock.advance(8000)
  expect(two.relayed.reaches(APP_RUNNER)).toBe(true)
  await world.clock.advance(2000)
  expect(two.relayed.reaches(APP_RUNNER)).toBe(false)
  world.loop.mend('one')
  await world.settle()
  expect(two.relayed.reaches(APP_RUNNER)).toBe(true)
  expect(two.arrived).toEqual(['app', 'app'])
})

test('a clock that leaps, as that of a machine that slept, makes nobody dead', async () => {
  const { world, two } = await twoEngines()
  const reply = two.invoke()
  await world.settle()
  world.clock.leapTo(world.clock.now() + 3_600_000)
  expect(two.relayed.reaches(APP_RUNNER)).toBe(true)
  await world.clock.advance(20_000)
  expect(two.relayed.reaches(APP_RUNNER)).toBe(true)
  expect(await Promise.race([reply, 'under way'])).toBe('under way')
})

test('a move that was lost is asked for at the next word', async () => {
  const world = new RelayWorld()
  const [one, two] = await world.engines('one', 'two')
  world.loop.loses = word => word.includes(' moved ')
  hold(one!)
  await world.settle()
  expect(two!.relayed.reaches(APP_RUNNER)).toBe(false)
  await world.clock.advance(2000)
  await world.settle()
  expect(two!.relayed.reaches(APP_RUNNER)).toBe(true)
})

test('an engine that leaves is sent nothing more, and one that closes is forgotten at once', async () => {
  const { world, one, two, runner } = await twoEngines()
  const under = two.invoke()
  await world.settle()
  one.relayed.leave()
  await world.settle()
  expect(two.relayed.reaches(APP_RUNNER)).toBe(false)
  expect(await two.invoke()).toEqual({ kind: 'refused', message: 'the runner is not connected' })
  const idle = one.relayed.idle(new AbortController().signal)
  runner.session.result(runner.invokes[0]!.id, 200, '{"a":1}')
  expect(await under).toEqual({ kind: 'answered', status: 200, body: '{"a":1}' })
  await idle
})

test('the end of an engine breaks what it had under way off at once', async () => {
  const { world, one, two } = await twoEngines()
  const reply = two.invoke()
  await world.settle()
  await one.relayed.close()
  expect(await reply).toMatchObject({ kind: 'broken' })
  await world.settle()
  expect(two.relayed.reaches(APP_RUNNER)).toBe(false)
})

test('when none comes to be under way, waiting for it ends with the signal', async () => {
  const { world, one, two } = await twoEngines()
  void two.invoke()
  await world.settle()
  const deadline = new AbortController()
  const idle = one.relayed.idle(deadline.signal)
  expect(await Promise.race([idle, world.settle().then(() => 'busy')])).toBe('busy')
  deadline.abort()
  await idle
})

test('how much room a bounded runner has is known elsewhere: it moves with invokes of every engine', async () => {
  const world = new RelayWorld()
  const [one, two, three] = await world.engines('one', 'two', 'three')
  const runner = hold(one!, { maxConcurrency: 2 })
  await world.settle()
  const rooms = () => [one!, two!, three!].map(({ relayed }) => relayed.room(APP_RUNNER) !== 0)
  expect(rooms()).toEqual([true, true, true])
  // What an engine sends, it knows itself: no word must come back before it sends the next elsewhere.
  void two!.invoke()
  void two!.invoke()
  expect(rooms()).toEqual([true, false, true])
  await world.clock.advance(100)
  expect(rooms()).toEqual([false, false, false])
  runner.session.result(runner.invokes[0]!.id, 200, '{}')
  await world.clock.advance(100)
  expect(rooms()).toEqual([true, true, true])
  void one!.invoke()
  await world.clock.advance(100)
  expect(rooms()).toEqual([false, false, false])
})

test('a word of room that is lost is made up for: said again while there is none, not believed for long', async () => {
  const { world, one, two, runner } = await twoEngines({ maxConcurrency: 1 })
  world.loop.loses = word => word.includes(' room ')
  void one.invoke()
  await world.clock.advance(100)
  expect(two.relayed.room(APP_RUNNER)).not.toBe(0)
  world.loop.loses = () => false
  await world.clock.advance(2000)
  expect(two.relayed.room(APP_RUNNER)).toBe(0)
  await world.clock.advance(60_000)
  expect(two.relayed.room(APP_RUNNER)).toBe(0)
  world.loop.loses = word => word.includes(' room ')
  runner.session.result(runner.invokes[0]!.id, 200, '{}')
  await world.clock.advance(8000)
  expect(two.relayed.room(APP_RUNNER)).not.toBe(0)
})

test('room that another engine waits for is left to it every other time', async () => {
  const { world, one, two } = await twoEngines({ maxConcurrency: 1 })
  expect(one.relayed.yieldsRoom(APP_RUNNER)).toBe(false)
  two.relayed.requestRoom(APP_RUNNER)
  await world.settle()
  two.roomy.length = 0
  const lent = [1, 2, 3, 4].map(() => one.relayed.yieldsRoom(APP_RUNNER))
  expect(lent).toEqual([true, false, true, false])
  await world.settle()
  expect(two.roomy).toEqual([APP_RUNNER, APP_RUNNER])
  await world.clock.advance(3000)
  expect(one.relayed.yieldsRoom(APP_RUNNER)).toBe(false)
  two.relayed.requestRoom(APP_RUNNER)
  await world.settle()
  void one.invoke()
  expect(one.relayed.yieldsRoom(APP_RUNNER), 'there is none').toBe(false)
})

test('of a runner with sockets on two engines, the one with room is taken', async () => {
  const world = new RelayWorld()
  const [one, two, three] = await world.engines('one', 'two', 'three')
  const runners = [one!, two!].map(engine => hold(engine, { maxConcurrency: 1 }))
  await world.settle()
  void three!.invoke()
  void three!.invoke()
  await world.settle()
  expect(runners.map(({ invokes }) => invokes.length)).toEqual([1, 1])
})

test('changes of room are told together, those of runners without a bound not at all', async () => {
  const world = new RelayWorld()
  const [one] = await world.engines('one', 'two')
  const runner = hold(one!, { maxConcurrency: 1000 })
  hold(one!, { url: connectUrl('default', 'app', 'free') })
  await world.settle()
  const before = world.loop.count('room')
  for (let i = 0; i < 100; i++) {
    void one!.invoke()
    void one!.invoke({ url: connectUrl('default', 'app', 'free') })
  }
  await world.clock.advance(100)
  expect(runner.invokes).toHaveLength(100)
  expect(world.loop.count('room') - before).toBe(1)
  expect(world.loop.said.filter(({ word }) => word.includes(' room ') && word.includes('free'))).toEqual([])
})

test('a thousand runners are told of in words that may be said to all', async () => {
  const world = new RelayWorld()
  const [one] = await world.engines('one', 'two')
  const url = (i: number) => connectUrl('default', 'app', `runner-with-a-long-name-${i}`)
  for (let i = 0; i < 1000; i++) hold(one!, { url: url(i), maxConcurrency: 1 })
  await world.settle()
  for (let i = 0; i < 1000; i++) void one!.invoke({ url: url(i) })
  await world.clock.advance(100)
  const lengths = world.loop.said.filter(({ to }) => to === undefined).map(({ word }) => word.length)
  expect(Math.max(...lengths)).toBeLessThanOrEqual(7800)
})

test('what nobody needs any more holds no timer', async () => {
  const { world, one, two, runner } = await twoEngines({ maxConcurrency: 1 })
  const reply = two.invoke()
  await world.settle()
  runner.session.result(runner.invokes[0]!.id, 200, '{}')
  await reply
  await Promise.all([one.relayed.close(), two.relayed.close()])
  expect(world.clock.nextTimer()).toBeUndefined()
})
