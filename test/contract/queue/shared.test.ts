// The queue contract on each wire. Wake-ups and long messages reach the other engine.

import { describe, expect, test } from 'vitest'
import { PostgresWire } from '../../../packages/engine/src/adapters/bus/postgres-wire.ts'
import { RedisWire } from '../../../packages/engine/src/adapters/bus/redis-wire.ts'
import type { Wire } from '../../../packages/engine/src/adapters/bus/wire.ts'
import { WireBus } from '../../../packages/engine/src/adapters/bus/wire-bus.ts'
import { systemClock } from '../../../packages/engine/src/adapters/clock/system.ts'
import { SharedQueue } from '../../../packages/engine/src/adapters/queue/shared.ts'
import { openPostgresStore } from '../../../packages/engine/src/adapters/sql/postgres/store.ts'
import { onCleanup } from '../../kit/cleanup.ts'
import { DroppingProxy } from '../../kit/servers/dropping-proxy.ts'
import { freshSchema } from '../../kit/servers/postgres.ts'
import { REDIS_URL } from '../../kit/servers/redis.ts'
import { uniqueHere } from '../../kit/temp.ts'
import { until } from '../../kit/until.ts'
import { never, queueContract } from './queue-contract.ts'

const onError = (error: unknown) => {
  throw error
}

/** Long messages wait in a table of the store. */
const storeUrl = await freshSchema()
await (await openPostgresStore({ url: storeUrl })).close()

const WIRES: Record<string, (channel: string) => Wire> = {
  Redis: channel => new RedisWire({ url: REDIS_URL, channel, onError }),
  PostgreSQL: channel => new PostgresWire({ url: storeUrl, channel, onError }),
}

for (const [name, wire] of Object.entries(WIRES)) {
  queueContract(name, async clock => {
    const bus = await WireBus.open({ wire: wire(uniqueHere('queue')), self: 'one' })
    return { queue: new SharedQueue({ bus, clock }), close: () => bus.close() }
  })

  describe(`engines connected through ${name}`, () => {
    test('a wake-up reaches the lanes of the other engine, for now and for later', async () => {
      const channel = uniqueHere('queue')
      const open = async (self: string) => {
        const bus = await WireBus.open({ wire: wire(channel), self })
        onCleanup(() => bus.close())
        return new SharedQueue({ bus, clock: systemClock })
      }
      const [one, two] = [await open('one'), await open('two')]
      const far = systemClock.now() + 60_000
      const waits = [two.wait('runs', far, never), two.wait('timers', far, never)]
      one.wake('runs', systemClock.now())
      one.wake('timers', systemClock.now() + 30)
      await Promise.all(waits)
      expect(systemClock.now()).toBeLessThan(far)
    })
  })
}

for (const [name, wire] of Object.entries(WIRES)) {
  test(`through ${name} the longest messages arrive unchanged, in order with short ones`, async () => {
    const channel = uniqueHere('long')
    const [one, two] = [wire(channel), wire(channel)]
    onCleanup(() => Promise.all([one.close(), two.close()]))
    const received: string[] = []
    let reconnects = 0
    await two.listen(
      'two',
      message => received.push(message),
      () => reconnects++,
    )
    await one.listen(
      'one',
      () => {},
      () => {},
    )
    // As long as the invoke of the largest run state. No part of it ends at a character boundary.
    const long = `x${'ä€𝄞'.repeat(4 * 1024 * 1024)}`
    const messages = ['first', long, 'second', `${'y'.repeat(3 * 1024 * 1024)}`, 'third', 'last']
    await Promise.all(messages.map(message => one.send(message, 'two')))
    await until(() => received.length >= messages.length, { what: 'the messages' })
    expect(received.map(({ length }) => length)).toEqual(messages.map(({ length }) => length))
    expect(received.every((message, i) => message === messages[i])).toBe(true)
    expect(reconnects).toBe(0)
  })
}

test('a listening connection that goes dead without a word is replaced, and messages come again', async () => {
  const channel = uniqueHere('dead')
  const proxy = await DroppingProxy.open(storeUrl)
  const probe = { everyMs: 50, answerMsMax: 200 }
  const deaf = new PostgresWire({ url: proxy.urlOf(storeUrl), channel, onError: () => {}, probe })
  const other = new PostgresWire({ url: storeUrl, channel, onError })
  onCleanup(() => Promise.all([deaf.close(), other.close()]))
  const heard: string[] = []
  let connections = 0
  await other.listen(
    'two',
    () => {},
    () => {},
  )
  await deaf.listen(
    'one',
    message => heard.push(message),
    () => void connections++,
  )
  proxy.drop('both')
  await until(() => connections === 1, { what: 'a new connection' })
  await other.send('hello', 'one')
  await until(() => heard.length > 0)
  expect([heard, proxy.replaced]).toEqual([['hello'], 1])
})
