// A second connection to an engine's file, for tests that break its tables under it.

import { type Database, loadSqlite } from '../../packages/engine/src/adapters/sql/sqlite/module.ts'
import { onCleanup } from './cleanup.ts'

/** Runs SQL in an engine's database from outside; it waits for the engine's own writes to end. */
export async function openDatabase(storeFile: string): Promise<Pick<Database, 'exec'>> {
  const { DatabaseSync } = await loadSqlite()
  const database = new DatabaseSync(storeFile)
  onCleanup(() => database.close())
  database.exec('PRAGMA busy_timeout = 5000')
  return database
}
