// A runner that lost its socket on one engine and came back to another, with the result of what the first one sent it.

import { expect, test } from 'vitest'
import { connectUrl } from '../../../domain/model/connect-url.ts'
import { connectRunner, type FakeRunner, RelayCluster, type RelayEngine } from './relay.testkit.ts'

/** Three engines; the runner was sent an invoke of the first one, and is back on the second. */
async function comeBack({ by = 0 } = {}) {
  const cluster = new RelayCluster()
  const engines = await cluster.engines('one', 'two', 'three')
  const [one, two] = engines as [RelayEngine, RelayEngine, RelayEngine]
  const before = connectRunner(one)
  await cluster.settle()
  const reply = engines[by]!.invoke()
  await cluster.settle()
  const { id } = before.invokes[0]!
  before.session.close()
  const after = connectRunner(two)
  await cluster.settle()
  return { cluster, one, two, before, after, reply, id }
}

/** Hands in a result; says when it may be acknowledged. */
function hand(runner: FakeRunner, id: string, body = '{"done":true}') {
  const told = { isOver: false }
  const handed = runner.session.result(id, 200, body)
  if (handed) void handed.then(() => (told.isOver = true))
  else told.isOver = true
  return told
}

test.each([0, 2])('its result reaches the engine that waits for it, driven by engine %i', async by => {
  const { cluster, after, reply, id } = await comeBack({ by })
  const told = hand(after, id)
  await cluster.settle()
  expect(await reply).toEqual({ kind: 'answered', status: 200, body: '{"done":true}' })
  expect(told.isOver).toBe(true)
})

test('words that are lost are said again', async () => {
  const { cluster, after, reply, id } = await comeBack()
  const losses = new Set(['whose', 'mine', 'stray'])
  cluster.network.drops = message => losses.delete(message.split(' ', 2)[1] as string)
  const told = hand(after, id)
  await cluster.clock.advance(4000)
  expect(await reply).toMatchObject({ kind: 'answered' })
  expect(told.isOver).toBe(true)
})

test('one that nobody waits for is acknowledged when nobody can any more, and not before', async () => {
  const { cluster, after } = await comeBack()
  const told = hand(after, 'inv_000000000000gone')
  await cluster.clock.advance(5000)
  expect(told.isOver).toBe(false)
  await cluster.clock.advance(1000)
  expect(told.isOver).toBe(true)
})

test('one of a call that is over here is acknowledged at once', async () => {
  const { cluster, two, after } = await comeBack()
  const reply = two.invoke()
  await cluster.settle()
  const { id } = after.invokes[0]!
  expect(hand(after, id)).toEqual({ isOver: true })
  expect(await reply).toMatchObject({ kind: 'answered' })
  expect(hand(after, id)).toEqual({ isOver: true })
})

test('of another runner it changes nothing', async () => {
  const { cluster, two, after, reply, id } = await comeBack()
  const stranger = connectRunner(two, { url: connectUrl('default', 'app', 'stranger') })
  hand(stranger, id, '"stolen"')
  await cluster.settle()
  hand(after, id)
  expect(await reply).toMatchObject({ body: '{"done":true}' })
})

test('what it still works on has as long as its engine waits, and is then taken back', async () => {
  const { cluster, after, reply, id } = await comeBack()
  after.session.renew({ underWay: [id] })
  await cluster.clock.advance(4900)
  expect(after.cancelled).toEqual([])
  await cluster.clock.advance(100)
  expect(after.cancelled).toEqual([id])
  expect(await reply).toMatchObject({ kind: 'broken' })
})
