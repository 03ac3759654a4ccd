// The contract on each wire that engines hear each other by, and that a ring reaches the other engine.

import { describe, expect, test } from 'vitest'
import { systemClock } from '../../../packages/engine/src/adapters/clock/system.ts'
import { SharedQueue } from '../../../packages/engine/src/adapters/queue/shared.ts'
import { WireBus } from '../../../packages/engine/src/adapters/wire/bus.ts'
import { PostgresWire } from '../../../packages/engine/src/adapters/wire/postgres.ts'
import { RedisWire } from '../../../packages/engine/src/adapters/wire/redis.ts'
import type { Wire } from '../../../packages/engine/src/adapters/wire/wire.ts'
import { onCleanup } from '../../kit/cleanup.ts'
import { POSTGRES_URL } from '../../kit/postgres.ts'
import { REDIS_URL } from '../../kit/redis.ts'
import { uniqueHere } from '../../kit/temp.ts'
import { queueContract } from './queue-contract.ts'

const never = new AbortController().signal
const onTrouble = (error: unknown) => {
  throw error
}

const WIRES: Record<string, (channel: string) => Wire> = {
  Redis: channel => new RedisWire({ url: REDIS_URL, channel, onTrouble }),
  PostgreSQL: channel => new PostgresWire({ url: POSTGRES_URL, channel, onTrouble }),
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
