import pino from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { VirtualClock } from '../../adapters/clock/virtual.ts'
import { openSqliteStore } from '../../adapters/sql/sqlite/store.ts'
import type { Receiver } from '../../domain/model/receiver.ts'
import type { Store } from '../../ports/store.ts'
import { AcceptedPosts } from './accepted-posts.ts'

const receiver: Receiver = {
  namespace: 'acme',
  id: 'whr_1',
  slug: 'payments',
  eventName: 'payment/received',
  scheme: 'stripe',
  enabled: true,
  secret: 'sealed',
  createdAt: 1,
  updatedAt: 1,
  version: 1,
}

/** A store with a receiver, whose writes of times may be made to fail, and the posts of one of its engines. */
async function setUp() {
  const store = await openSqliteStore({ file: ':memory:' })
  onTestFinished(() => store.close())
  await store.commit({ guards: [], changes: [{ type: 'receiver.saved', receiver }] })
  const clock = new VirtualClock()
  const log = pino({ level: 'silent' })
  const writing = { isBroken: false }
  const shaky = {
    lastAcceptedAt: store.lastAcceptedAt.bind(store),
    receiversAccepted: async (posts: Parameters<Store['receiversAccepted']>[0]) => {
      if (writing.isBroken) throw new Error('the connection is cut')
      return store.receiversAccepted(posts)
    },
  }
  const engine = () => new AcceptedPosts({ store: shaky as unknown as Store, clock, log })
  const lastAt = async (posts: AcceptedPosts) => (await posts.lastAt('acme', [receiver.id])).get(receiver.id)
  return { clock, writing, engine, lastAt }
}

test('a post is known at once here, and within a minute on other engines', async () => {
  const { clock, engine, lastAt } = await setUp()
  const [one, two] = [engine(), engine()]
  one.start()
  const at = clock.now()
  one.note(receiver)
  expect(await lastAt(one)).toBe(at)
  expect(await lastAt(two)).toBeUndefined()
  await clock.advance(60_000)
  expect(await lastAt(two)).toBe(at)
  two.note(receiver)
  expect(await lastAt(two)).toBe(at + 60_000)
  await one.stop()
  await two.stop()
})

test('a time that could not be written is written later, at the latest when the engine stops', async () => {
  const { clock, writing, engine, lastAt } = await setUp()
  const [one, two] = [engine(), engine()]
  one.start()
  const at = clock.now()
  one.note(receiver)
  writing.isBroken = true
  await clock.advance(60_000)
  expect(await lastAt(one)).toBe(at)
  writing.isBroken = false
  await one.stop()
  expect(await lastAt(two)).toBe(at)
})
