// A runner that lost its socket on one engine and reconnects to another, with the result of the first one's invoke.

import { expect, test } from 'vitest'
import { connectUrl } from '../../../domain/model/connect-url.ts'
import { connectRunner, type FakeRunner, RelayCluster, type RelayEngine } from './relay.testkit.ts'

/** Three engines; the runner received an invoke of engine `by` through the first, and reconnected to the second. */
async function reconnected({ by = 0 } = {}) {
  const cluster = new RelayCluster()
  const engines = await cluster.engines('one', 'two', 'three')
  const [one, two] = engines as [RelayEngine, RelayEngine, RelayEngine]
  const before = connectRunner(one)
  await cluster.settle()
  const reply = engines[by]!.invoke()
  await cluster.settle()
  const { id } = before.invokes[0]!
  before.connection.close()
  const after = connectRunner(two)
  await cluster.settle()
  return { cluster, one, two, before, after, reply, id }
}

/** Sends a result; `isOver` is true once it may be acknowledged. */
function sendResult(runner: FakeRunner, id: string, body = '{"done":true}') {
  const ack = { isOver: false }
  const forwarded = runner.connection.result(id, 200, body)
  if (forwarded) void forwarded.then(() => (ack.isOver = true))
  else ack.isOver = true
  return ack
}

test.each([0, 2])('the result reaches the engine that waits for it; engine %i drives the run', async by => {
  const { cluster, after, reply, id } = await reconnected({ by })
  const ack = sendResult(after, id)
  await cluster.settle()
  expect(await reply).toEqual({ kind: 'answered', status: 200, body: '{"done":true}' })
  expect(ack.isOver).toBe(true)
})

test('messages that are lost are sent again', async () => {
  const { cluster, after, reply, id } = await reconnected()
  const losses = new Set(['whose', 'mine', 'stray'])
  cluster.network.drops = message => losses.delete(message.split(' ', 2)[1] as string)
  const ack = sendResult(after, id)
  await cluster.clock.advance(4000)
  expect(await reply).toMatchObject({ kind: 'answered' })
  expect(ack.isOver).toBe(true)
})

test('a result that no engine waits for is acknowledged once none can wait any more, and not before', async () => {
  const { cluster, after } = await reconnected()
  const ack = sendResult(after, 'inv_000000000000gone')
  await cluster.clock.advance(5000)
  expect(ack.isOver).toBe(false)
  await cluster.clock.advance(1000)
  expect(ack.isOver).toBe(true)
})

test('the result of a call that is over on the same engine is acknowledged at once', async () => {
  const { cluster, two, after } = await reconnected()
  const reply = two.invoke()
  await cluster.settle()
  const { id } = after.invokes[0]!
  expect(sendResult(after, id)).toEqual({ isOver: true })
  expect(await reply).toMatchObject({ kind: 'answered' })
  expect(sendResult(after, id)).toEqual({ isOver: true })
})

test('the result of another runner changes nothing', async () => {
  const { cluster, two, after, reply, id } = await reconnected()
  const stranger = connectRunner(two, { url: connectUrl('default', 'app', 'stranger') })
  sendResult(stranger, id, '"stolen"')
  await cluster.settle()
  sendResult(after, id)
  expect(await reply).toMatchObject({ body: '{"done":true}' })
})

test('an invoke that the runner still works on is cancelled once its engine waits no longer', async () => {
  const { cluster, after, reply, id } = await reconnected()
  after.connection.renew({ underWay: [id] })
  await cluster.clock.advance(4900)
  expect(after.cancelled).toEqual([])
  await cluster.clock.advance(100)
  expect(after.cancelled).toEqual([id])
  expect(await reply).toMatchObject({ kind: 'broken' })
})
