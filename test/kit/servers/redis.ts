// Redis keys for single tests, deleted at the end of the test file.

import { Redis } from 'ioredis'
import { Client } from 'pg'
import { onCleanup } from '../cleanup.ts'
import { uniqueHere } from '../temp.ts'

/** The server of this machine. */
export const REDIS_URL = process.env.PERDURE_TEST_REDIS ?? 'redis://127.0.0.1:6379'

/** A prefix for the keys of one test. */
export function redisPrefix(): string {
  const prefix = `${uniqueHere('perdure-test')}:`
  onCleanup(() => deleteKeys(prefix))
  return prefix
}

/** Deletes everything that the engines on a store keep in Redis. */
export async function deleteKeysOf(storeUrl: string): Promise<void> {
  const client = new Client({ connectionString: storeUrl })
  await client.connect()
  const { rows } = await client.query<{ name: string }>('SELECT name FROM cluster')
  await client.end()
  await deleteKeys(`perdure:${rows[0]?.name}:`)
}

/** Deletes all data of a server that nothing else uses. */
export async function flushAll(): Promise<void> {
  const redis = new Redis(REDIS_URL)
  await redis.flushall()
  redis.disconnect()
}

async function deleteKeys(prefix: string): Promise<void> {
  const redis = new Redis(REDIS_URL)
  const keys = await redis.keys(`${prefix}*`)
  if (keys.length > 0) await redis.del(...keys)
  redis.disconnect()
}
