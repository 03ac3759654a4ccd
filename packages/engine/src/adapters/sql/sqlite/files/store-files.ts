// The files of a SQLite store. They are created so that only their owner can open them; files of older stores that are open to
// others are found. Also recognizes a store whose database was lost while its log was not: SQLite takes it for a new one and
// deletes the log, with everything that was committed to it. Called before a connection is opened, and by `perdure doctor`.

import { closeSync, mkdirSync, openSync, readSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

const FOLDER_MODE = 0o700
const FILE_MODE = 0o600
/** The permissions of the group and of others, and their write permissions: in a folder, to remove and replace files. */
const OTHERS = 0o077
const OTHERS_WRITE = 0o022
const STICKY = 0o1000
/** Files next to a database that hold parts of it. SQLite creates them with the mode of the database. */
export const SIDE_FILES: readonly string[] = ['-wal', '-shm', '-journal']
/** The first bytes of a valid rollback journal, and the position in it of the database's earlier size, in pages. */
const JOURNAL_MAGIC = Buffer.from('d9d505f920a163d7', 'hex')
const JOURNAL_PAGES_AT = 16
const JOURNAL_HEADER_BYTES = 20

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

/** Creates the folder, and missing folders above it. An existing folder keeps its mode. */
function createPrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: FOLDER_MODE })
}

/**
 * Creates the file, empty, unless it exists: an existing file keeps its mode. It is not opened either: closing it would release
 * the locks that SQLite has on it in this process.
 */
export function createPrivateFile(file: string): void {
  if (sizeOf(file) === undefined) closeSync(openSync(file, 'a', FILE_MODE))
}

/** The device and inode number of the file; undefined if it is missing. */
export function identityOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats && `${stats.dev}:${stats.ino}`
}

/**
 * Throws if the database has a second name: SQLite would not find the log of an engine that runs, or ran, under the other name.
 */
export function refuseLinks(file: string): void {
  const links = statSync(file, { throwIfNoEntry: false })?.nlink ?? 1
  if (links <= 1) return
  throw new Error(
    `${file} has ${links} names (hard links), and each would have its own log: keep the one beside its log, and remove ` +
      `the others (find / -xdev -samefile ${quoted(file)})`,
  )
}

/**
 * A sentence with the commands that close the store to other users of the machine; undefined if it is closed. A folder that
 * others can only list is closed: they cannot open its files. The engine does not change the modes of existing files: another
 * program may depend on them.
 */
export function openToOthers(file: string): string | undefined {
  if (process.platform === 'win32') return undefined
  const files = [file, ...[...SIDE_FILES, '.lock'].map(side => `${file}${side}`)].filter(path => hasMode(path, OTHERS))
  const folder = dirname(file)
  const isReplaceable = hasMode(folder, OTHERS_WRITE)
  const commands = files.length > 0 ? [`chmod 600 ${files.map(quoted).join(' ')}`] : []
  if (isReplaceable) commands.unshift(advice(folder))
  if (commands.length === 0) return undefined
  const can = files.length > 0 ? 'open the store' : 'replace files of the store'
  return `other users of this machine can ${can}: ${commands.join(', and ')}`
}

/** A folder that all users share, such as /tmp, must not be closed. */
function advice(folder: string): string {
  return hasMode(folder, STICKY) ? `move it from ${folder} to a folder of its own` : `chmod 700 ${quoted(folder)}`
}

function hasMode(path: string, mode: number): boolean {
  return ((modeOf(path) ?? 0) & mode) !== 0
}

function quoted(path: string): string {
  return /^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

/** Throws, and says what to do, if the file is missing or empty while its log has contents. */
export function refuseLostDatabase(file: string): void {
  const reason = lostDatabase(file)
  if (reason !== undefined) throw new Error(reason)
}

/** Creates the database file, empty, unless there is one. Throws if it was lost. */
export function createDatabaseFile(file: string): void {
  refuseLostDatabase(file)
  createPrivateFile(file)
}

/** A sentence that says what is lost and how to recover; undefined if the store has its database, or is new. */
export function lostDatabase(file: string): string | undefined {
  // The log first: another process may be creating the store, and creates its log only after the database has contents.
  const log = logOf(file)
  if (log === undefined) return undefined
  if (!isEmpty(file)) return undefined
  const state = sizeOf(file) === undefined ? 'missing' : 'empty'
  return (
    `the database is ${state}, but its log ${log} holds acknowledged work: put ${file} back beside its log, or replace both ` +
    `by a backup (perdure restore FILE --force). To start over without that work, move ${log} away`
  )
}

/** Whether the file has no contents, or is missing. */
export function isEmpty(file: string): boolean {
  return (sizeOf(file) ?? 0) === 0
}

function logOf(file: string): string | undefined {
  if (!isEmpty(`${file}-wal`)) return `${file}-wal`
  return isJournalOfContents(`${file}-journal`) ? `${file}-journal` : undefined
}

/** If the database was empty before the journal, the journal's process died while it was creating the store. */
function isJournalOfContents(journal: string): boolean {
  if ((sizeOf(journal) ?? 0) < JOURNAL_HEADER_BYTES) return false
  const header = firstBytes(journal, JOURNAL_HEADER_BYTES)
  return header.subarray(0, JOURNAL_MAGIC.length).equals(JOURNAL_MAGIC) && header.readUInt32BE(JOURNAL_PAGES_AT) > 0
}

/** The first bytes of the file; zeros behind its end. */
export function firstBytes(path: string, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  const handle = openSync(path, 'r')
  try {
    readSync(handle, bytes, 0, length, 0)
  } finally {
    closeSync(handle)
  }
  return bytes
}

function modeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mode
}

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size
}
