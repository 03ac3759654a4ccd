// The orderly stop of an engine on PostgreSQL and Redis, which has more parts to stop than one on SQLite.

import { expect, test } from 'vitest'
import { freshSchema, onCleanup, REDIS_URL, startEngine } from '../../kit/index.ts'
import { deleteKeysOf } from '../../kit/servers/redis.ts'

test('an engine that drains says nothing on its standard error, and ends with 0', async () => {
  const storeFile = await freshSchema()
  const engine = await startEngine({ storeFile, env: { ENGINE_QUEUE: REDIS_URL, ENGINE_LIMITER: REDIS_URL } })
  onCleanup(() => deleteKeysOf(storeFile))
  expect(await engine.sigterm()).toMatchObject({ code: 0, stderr: '' })
})
