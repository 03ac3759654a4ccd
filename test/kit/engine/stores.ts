// Both databases for tests that run on each, and engines on a new store: one on SQLite, two on PostgreSQL.

import type { Api } from '../http/api.ts'
import { freshSchema } from '../servers/postgres.ts'
import { tempStoreFile } from '../temp.ts'
import { type OpenEngine, type OpenOptions, openEngine } from './engine-in-process.ts'

/** Name of a database, and a new store in it. */
export const STORES = [
  ['sqlite', async () => tempStoreFile()],
  ['postgres', freshSchema],
] as const

/** Where engines work on a new store: the name for the test, the store, number of engines. */
export const PLACES = [
  ['sqlite', async () => tempStoreFile(), 1],
  ['postgres, two engines', freshSchema, 2],
] as const

/** The secret key of engines that are opened by `openKeyed`; its label is `ops`. */
const OPS_KEY = 'secret-key-of-ops'

/** Engines on a new store with one key, and the API of the first and the last with that key. */
export async function openKeyed(
  freshStore: () => Promise<string>,
  count = 1,
): Promise<{ engine: OpenEngine; api: Api; other: Api }> {
  const keys = [{ label: 'ops', namespace: 'default', kind: 'secret', key: OPS_KEY }]
  const env = { ENGINE_API_KEYS: JSON.stringify(keys) }
  const { engines, api, other } = await openEngines(freshStore, count, { env })
  return { engine: engines[0] as OpenEngine, api: api.as(OPS_KEY), other: other.as(OPS_KEY) }
}

interface OpenEngines {
  storeFile: string
  engines: OpenEngine[]
  /** The first engine and the last, which are the same on SQLite. */
  api: Api
  other: Api
}

export async function openEngines(
  freshStore: () => Promise<string>,
  count: number,
  options: Omit<OpenOptions, 'storeFile' | 'onDisk'> = {},
): Promise<OpenEngines> {
  const storeFile = await freshStore()
  const engines = await Promise.all(Array.from({ length: count }, () => openEngine({ ...options, storeFile })))
  const [api, other] = [engines[0]?.api, engines.at(-1)?.api] as [Api, Api]
  return { storeFile, engines, api, other }
}
