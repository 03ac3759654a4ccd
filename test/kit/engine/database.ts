// A second connection to an engine's file, for tests that change its tables while the engine runs.

import { type Database, loadSqlite } from '../../../packages/engine/src/adapters/sql/sqlite/module.ts'
import { onCleanup } from '../cleanup.ts'
import { FILLED_TABLES } from '../servers/kept-open.ts'

/** Runs SQL in an engine's database. A write waits until the engine's own writes have ended. */
export async function openDatabase(storeFile: string): Promise<Pick<Database, 'exec' | 'prepare'>> {
  const { DatabaseSync } = await loadSqlite()
  const database = new DatabaseSync(storeFile)
  onCleanup(() => database.close())
  database.exec('PRAGMA busy_timeout = 5000')
  return database
}

/** Empties every table of an engine's database. That is quicker than a new file, because a new store starts threads. */
export async function openEmptier(storeFile: string): Promise<() => void> {
  const { DatabaseSync } = await loadSqlite()
  const database = new DatabaseSync(storeFile)
  onCleanup(() => database.close())
  // The emptied tables do not need to survive a power loss.
  database.exec('PRAGMA busy_timeout = 5000; PRAGMA synchronous = OFF')
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as {
    name: string
  }[]
  const names = tables.map(({ name }) => name)
  const emptied = names.filter(name => !name.startsWith('sqlite_') && !FILLED_TABLES.includes(name))
  const sql = emptied.map(name => `DELETE FROM ${name}`).join('; ')
  return () => database.exec(`BEGIN IMMEDIATE; ${sql}; COMMIT`)
}
