// Redis keys of a test's own, deleted with it.

import { Redis } from 'ioredis'
import { onCleanup } from './cleanup.ts'
import { unique } from './temp.ts'

/** The server of this machine. */
export const REDIS_URL = process.env.PERDURE_TEST_REDIS ?? 'redis://127.0.0.1:6379'

/** In front of every key of one test. */
export function redisPrefix(): string {
  const prefix = `${unique('perdure-test')}:`
  onCleanup(() => deleteKeys(prefix))
  return prefix
}

async function deleteKeys(prefix: string): Promise<void> {
  const redis = new Redis(REDIS_URL)
  const keys = await redis.keys(`${prefix}*`)
  if (keys.length > 0) await redis.del(...keys)
  redis.disconnect()
}
