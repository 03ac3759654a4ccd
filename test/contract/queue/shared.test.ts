// The contract on each wire that engines hear each other by, that a ring reaches the other engine, and that long words do.

import { describe, expect, test } from 'vitest'
import { PostgresWire } from '../../../packages/engine/src/adapters/bus/postgres-wire.ts'
import { RedisWire } from '../../../packages/engine/src/adapters/bus/redis-wire.ts'
import type { Wire } from '../../../packages/engine/src/adapters/bus/wire.ts'
import { WireBus } from '../../../packages/engine/src/adapters/bus/wire-bus.ts'
import { systemClock } from '../../../packages/engine/src/adapters/clock/system.ts'
import { SharedQueue } from '../../../packages/engine/src/adapters/queue/shared.ts'
import { openPostgresStore } from '../../../packages/engine/src/adapters/sql/postgres/store.ts'
import { onCleanup } from '../../kit/cleanup.ts'
import { freshSchema } from '../../kit/servers/postgres.ts'
import { REDIS_URL } from '../../kit/servers/redis.ts'
import { uniqueHere } from '../../kit/temp.ts'
import { until } from '../../kit/until.ts'
import { queueContract } from './queue-contract.ts'

const never = new AbortController().signal
const onError = (error: unknown) => {
  throw error
}

/** Long words wait in a table of the store. */
const storeUrl = await freshSchema()
await (await openPostgresStore({ url: storeUrl })).close()

const WIRES: Record<string, (channel: string) => Wire> = {
  Redis: channel => new RedisWire({ url: REDIS_URL, channel, onError }),
  PostgreSQL: channel => new PostgresWire({ url: storeUrl, channel, onError }),
}

for (const [name, wire] of Object.entries(WIRES)) {
  queueContract(name, async clock => {
    const bus = await WireBus.open({ wire: wire(uniqueHere('bell')), self: 'one' })
    return { queue: new SharedQueue({ bus, clock }), close: () => bus.close() }
  })

  describe(`engines that hear each other through ${name}`, () => {
    test('a ring reaches the lanes of the other, now and later', async () => {
      const channel = uniqueHere('bell')
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
  test(`through ${name} the longest words arrive to the letter, in their order among short ones`, async () => {
    const channel = uniqueHere('long')
    const [one, two] = [wire(channel), wire(channel)]
    onCleanup(() => Promise.all([one.close(), two.close()]))
    const heard: string[] = []
    let backs = 0
    await two.listen(
      'two',
      word => heard.push(word),
      () => backs++,
    )
    await one.listen(
      'one',
      () => {},
      () => {},
    )
    // Of a run whose state is as large as it may be; no part of it ends with a character.
    const long = `x${'ä€𝄞'.repeat(4 * 1024 * 1024)}`
    const words = ['first', long, 'second', `${'y'.repeat(3 * 1024 * 1024)}`, 'third', 'last']
    await Promise.all(words.map(word => one.send(word, 'two')))
    await until(() => heard.length >= words.length, { what: 'the words' })
    expect(heard.map(({ length }) => length)).toEqual(words.map(({ length }) => length))
    expect(heard.every((word, i) => word === words[i])).toBe(true)
    expect(backs).toBe(0)
  })
}
