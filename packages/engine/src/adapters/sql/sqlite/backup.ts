// Copies a SQLite store as a whole: to a backup, while an engine may write to it; and from a backup, in place of a store that no
// engine has open. Called by compose/maintenance.ts.

import { closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { systemClock } from '../../clock/system.ts'
import { endEveryClaim, lockStore } from './claim.ts'
import { Connection } from './connection.ts'
import { copyOpenFiles } from './files/open-files.ts'
import { createPrivateFile, databasePath, refuseLostDatabase, SIDE_FILES } from './files/store-files.ts'
import { SCHEMA_VERSION, schemaVersion } from './migrations.ts'
import { loadSqlite } from './module.ts'
import { damageOf } from './snapshot.ts'

/** All pages in one step: if it paused between steps, each write of the engine would restart the copy. */
const PAGES_AT_ONCE = 2_147_483_647
/** The end of the name of a copy in progress: the host and process that make it, and the suffix of a side file. */
const COPY_NAME = /\.perdure-copy-(?<host>.+)-(?<pid>\d+)(?:-wal|-shm|-journal)?$/
/** A copy by another host that has not been written to for this long is abandoned. */
const COPY_AGE_MS_MAX = 24 * 3_600_000

export interface CopyOptions {
  /** Replaces an existing file. */
  force?: boolean
}

export interface BackupOptions extends CopyOptions {
  /** The process of an engine that has lost its files: the copy is taken from the files that it has open. */
  pid?: number | undefined
}

/**
 * Copies the store to `to`, as it is when the call begins, while its engine goes on writing. The copy is checked and durable
 * before it gets its name. Returns its size in bytes. Rejects if `to` exists, unless forced.
 */
export async function backupFile(
  store: string,
  to: string,
  { force = false, pid }: BackupOptions = {},
): Promise<number> {
  if (pid === undefined && !existsSync(store)) throw new Error(`there is no file ${store}`)
  const target = databasePath(to)
  if (target === databasePath(store)) throw new Error(`${to} is the store itself`)
  refuseExisting(target, force)
  const copy = await copied(pid === undefined ? store : { pid }, target)
  renameSync(copy, target)
  syncDirectory(target)
  return statSync(target).size
}

/**
 * Puts the backup in the place of the store. Rejects while an engine has the store open; if the store exists, unless forced; and
 * if the backup is damaged, is not a store, or belongs to a newer engine. In these cases the store stays as it was.
 */
export async function restoreFile(store: string, from: string, { force = false }: CopyOptions = {}): Promise<void> {
  if (!existsSync(from)) throw new Error(`there is no file ${from}`)
  const target = databasePath(store)
  if (target === databasePath(from)) throw new Error(`${from} is the store itself`)
  const lock = await lockStore(target)
  try {
    refuseExisting(target, force)
    if (!force) refuseLostDatabase(target)
    const copy = await copied(from, target)
    // SQLite would take a log file left there for the log of the new file.
    if (existsSync(target)) await emptyLog(target)
    for (const side of SIDE_FILES) rmSync(`${target}${side}`, { force: true })
    renameSync(copy, target)
    syncDirectory(target)
  } finally {
    lock.release()
  }
}

/** Makes a checked and durable copy next to its later name, and returns the copy's path. */
async function copied(from: string | { pid: number }, target: string): Promise<string> {
  removeAbandonedCopies(dirname(target))
  const copy = `${target}.perdure-copy-${hostname()}-${process.pid}`
  const remove = () => {
    for (const side of ['', ...SIDE_FILES]) rmSync(`${copy}${side}`, { force: true })
  }
  remove()
  // An interrupt ends the process here.
  process.once('exit', remove)
  try {
    if (typeof from === 'string') await copyStore(from, copy)
    else copyOpenFiles(from.pid, copy)
    await Connection.use(copy, { readOnly: false }, checkCopy)
    sync(copy, 'r+')
    return copy
  } catch (error) {
    remove()
    const source = typeof from === 'string' ? from : `the store of process ${from.pid}`
    throw new Error(`${source} cannot be copied: ${(error as Error).message}`, { cause: error })
  } finally {
    process.removeListener('exit', remove)
  }
}

async function copyStore(from: string, copy: string): Promise<void> {
  refuseLostDatabase(from)
  createPrivateFile(copy)
  const { DatabaseSync, backup } = await loadSqlite()
  const source = new DatabaseSync(from, { readOnly: true })
  try {
    source.exec('PRAGMA busy_timeout = 5000')
    await backup(source, copy, { rate: PAGES_AT_ONCE })
  } finally {
    source.close()
  }
}

/** Removes what a killed backup or restore has left in the folder. */
function removeAbandonedCopies(folder: string): void {
  for (const name of readdirSync(folder)) {
    const { host, pid } = COPY_NAME.exec(name)?.groups ?? {}
    if (host === undefined) continue
    const file = join(folder, name)
    const isAbandoned = host === hostname() ? !isAlive(Number(pid)) : isOld(file)
    if (isAbandoned) rmSync(file, { force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // This process may not signal a process of another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function isOld(file: string): boolean {
  const changedAt = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
  return systemClock.now() - changedAt > COPY_AGE_MS_MAX
}

function checkCopy(connection: Connection): void {
  // A single file without a log file can be read from anywhere.
  connection.exec('PRAGMA journal_mode = DELETE')
  endEveryClaim(connection)
  const version = schemaVersion(connection)
  if (version === 0) throw new Error('it is not the store of an engine')
  if (version > SCHEMA_VERSION)
    throw new Error(`it has schema version ${version}, but this engine supports only versions up to ${SCHEMA_VERSION}`)
  const [damage] = damageOf(connection)
  if (damage !== undefined) throw new Error(`it is damaged: ${damage}`)
}

/** Moves the contents of the log into the file. Ignores errors: a file too broken for it is about to be replaced. */
async function emptyLog(file: string): Promise<void> {
  try {
    await Connection.use(file, { readOnly: false }, connection => connection.exec('PRAGMA wal_checkpoint(TRUNCATE)'))
  } catch {
    // A forced restore discards the old contents.
  }
}

function refuseExisting(file: string, force: boolean): void {
  if (!force && existsSync(file)) throw new Error(`${file} exists: --force replaces it`)
}

/** Syncs the file's directory: only then is a rename durable. */
function syncDirectory(file: string): void {
  sync(dirname(file), 'r')
}

function sync(path: string, flags: 'r' | 'r+'): void {
  const handle = openSync(path, flags)
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
