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
