// Makes sure that one engine at a time owns a database file. Taken before the database is opened, by the process that
// will run on it.

import { mkdirSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { loadSqlite } from './module.ts'

/** Long enough for a command that makes the schema of a new database, under this lock, to be done. */
const WAIT_MS = 1000

export interface FileLock {
  release(): void
}

/**
 * The lock is SQLite's own, on a file beside the database: the operating system lets go of it when the process dies,
 * however it dies. A lock on the database itself would keep the reader out, and tools.
 */
export async function lockFile(file: string): Promise<FileLock> {
  const { DatabaseSync } = await loadSqlite()
  const database = new DatabaseSync(`${file}.lock`)
  try {
    database.exec(`PRAGMA busy_timeout = ${WAIT_MS}; BEGIN EXCLUSIVE`)
  } catch (cause) {
    database.close()
    throw new Error(`another engine is running on ${file} (it holds ${file}.lock)`, { cause })
  }
  return { release: () => database.close() }
}

/** The one path of the file, whatever links lead to it; its directory is created when missing. */
export function databasePath(file: string): string {
  const path = resolve(file)
  mkdirSync(dirname(path), { recursive: true })
  try {
    return realpathSync(path)
  } catch {
    return join(realpathSync(dirname(path)), basename(path))
  }
}
