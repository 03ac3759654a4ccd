// The lock that lets one engine at a time own a database file. A process takes it before it opens the database.

import { mkdirSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { loadSqlite } from './module.ts'

/** Long enough for a command to create the schema of a new database under this lock. */
const WAIT_MS = 1000

export interface FileLock {
  release(): void
}

/**
 * Takes the lock, which is SQLite's own, on a file next to the database: the operating system releases it when the process
 * dies, however it dies. A lock on the database itself would exclude the reader, and tools.
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

/** The real path of the file, with links resolved; creates its directory if it is missing. */
export function databasePath(file: string): string {
  const path = resolve(file)
  mkdirSync(dirname(path), { recursive: true })
  try {
    return realpathSync(path)
  } catch {
    return join(realpathSync(dirname(path)), basename(path))
  }
}
