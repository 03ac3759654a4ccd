// The lock that lets one engine at a time own a database file. A process takes it before it opens the database.

import { realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { type Database, loadSqlite } from './module.ts'
import { isBusy } from './result-codes.ts'
import { createPrivateFile, createPrivateFolder } from './store-files.ts'

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
  const path = `${file}.lock`
  let database: Database | undefined
  try {
    createPrivateFile(path)
    const { DatabaseSync } = await loadSqlite()
    database = new DatabaseSync(path)
    database.exec(`PRAGMA busy_timeout = ${WAIT_MS}; BEGIN EXCLUSIVE`)
    const lock = database
    return { release: () => lock.close() }
  } catch (cause) {
    database?.close()
    throw refusal(file, cause)
  }
}

/** A full or failing disk, or a missing right, must not be taken for a running engine. */
function refusal(file: string, cause: unknown): Error {
  const reason = isBusy(cause)
    ? `another engine is running on ${file} (it holds ${file}.lock)`
    : `${file}.lock cannot be written: ${(cause as Error).message}`
  return new Error(reason, { cause })
}

/** The real path of the file, with links resolved; creates its directory if it is missing. */
export function databasePath(file: string): string {
  const path = resolve(file)
  createPrivateFolder(dirname(path))
  try {
    return realpathSync(path)
  } catch {
    return join(realpathSync(dirname(path)), basename(path))
  }
}
