// Copies of a SQLite store, each whole or not there at all: taken from a file that an engine may be writing to, and put in
// the place of one that no engine has open. Called by the engine package's `backupStore` and `restoreStore`.

import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { Connection } from './connection.ts'
import { databasePath, lockFile } from './lock-file.ts'
import { SCHEMA_VERSION, schemaVersion } from './migrations.ts'
import { loadSqlite } from './module.ts'
import { damageOf } from './snapshot.ts'

/** All pages in one step: with pauses in between, each of the engine's writes would make the copy begin anew. */
const PAGES_AT_ONCE = 2_147_483_647
const SIDE_FILES = ['-wal', '-shm', '-journal']

export interface CopyOptions {
  /** Replaces what is there. */
  force?: boolean
}

/**
 * Copies the store to `to`, as it is at the moment this begins; the engine on it goes on writing. The copy is checked and
 * durable before it gets its name. Answers its size in bytes. Rejects when `to` exists, unless forced.
 */
export async function backupFile(
  store: string,
  to: string,
  { force = false }: CopyOptions = {},
): Promise<number> {
  if (!existsSync(store)) throw new Error(`there is no file ${store}`)
  const target = databasePath(to)
  if (target === databasePath(store)) throw new Error(`${to} is the store itself`)
  refuseExisting(target, force)
  const copy = await copied(store, target)
  renameSync(copy, target)
  syncDirectory(target)
  return statSync(target).size
}

/**
 * Puts the backup in the place of the store. Rejects while an engine has the store open, when there is one already, unless
 * forced, and when the backup is damaged, is no store or that of a newer engine: the store is then as it was.
 */
export async function restoreFile(
  store: string,
  from: string,
  { force = false }: CopyOptions = {},
): Promise<void> {
  if (!existsSync(from)) throw new Error(`there is no file ${from}`)
  const target = databasePath(store)
  if (target === databasePath(from)) throw new Error(`${from} is the store itself`)
  const lock = await lockFile(target)
  try {
    refuseExisting(target, force)
    const copy = await copied(from, target)
    // A log that is left beside it would be taken for the new file's.
    if (existsSync(target)) await emptyLog(target)
    for (const side of SIDE_FILES) rmSync(`${target}${side}`, { force: true })
    renameSync(copy, target)
    syncDirectory(target)
  } finally {
    lock.release()
  }
}

/** A checked and durable copy beside its later name. */
async function copied(from: string, target: string): Promise<string> {
  const copy = `${target}.copying-${process.pid}`
  const remove = () => {
    for (const side of ['', ...SIDE_FILES]) rmSync(`${copy}${side}`, { force: true })
  }
  remove()
  try {
    const { DatabaseSync, backup } = await loadSqlite()
    const source = new DatabaseSync(from, { readOnly: true })
    try {
      source.exec('PRAGMA busy_timeout = 5000')
      await backup(source, copy, { rate: PAGES_AT_ONCE })
    } finally {
      source.close()
    }
    await checkCopy(copy)
    syncFile(copy)
    return copy
  } catch (error) {
    remove()
    throw new Error(`${from} cannot be copied: ${(error as Error).message}`, { cause: error })
  }
}

async function checkCopy(copy: string): Promise<void> {
  const connection = await Connection.open(copy, { readOnly: false })
  try {
    // One file without a log beside it, which can be read from anywhere.
    connection.exec('PRAGMA journal_mode = DELETE')
    const version = schemaVersion(connection)
    if (version === 0) throw new Error('it is no store of an engine')
    if (version > SCHEMA_VERSION)
      throw new Error(`it has schema version ${version}, this engine knows up to ${SCHEMA_VERSION}`)
    const [damage] = damageOf(connection)
    if (damage !== undefined) throw new Error(`it is damaged: ${damage}`)
  } finally {
    connection.close()
  }
}

/** Brings what is in the log into the file; what is too broken for that is about to be replaced. */
async function emptyLog(file: string): Promise<void> {
  try {
    const connection = await Connection.open(file, { readOnly: false })
    try {
      connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    } finally {
      connection.close()
    }
  } catch {
    // Whoever forces it gives up what is there.
  }
}

function refuseExisting(file: string, force: boolean): void {
  if (!force && existsSync(file)) throw new Error(`${file} exists: --force replaces it`)
}

function syncFile(file: string): void {
  const handle = openSync(file, 'r+')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** A rename is durable when its directory is. */
function syncDirectory(file: string): void {
  const handle = openSync(dirname(file), 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
