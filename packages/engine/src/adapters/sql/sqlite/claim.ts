// The claim of an engine on its database: a row of the database itself, so that every opener finds it, whatever name it opens the
// file by and whether or not the lock file is still there. An engine writes the claim when it starts (store.ts), compares it in
// every transaction (store-guard.ts), and marks it as ended at an orderly stop. Commands on a whole store respect it. There is
// also the lock file, which is quick, and which older versions know.

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { systemClock } from '../../clock/system.ts'
import { Connection } from './connection.ts'
import { createPrivateFile, identityOf, isEmpty, refuseLinks } from './files/store-files.ts'
import { type Database, loadSqlite } from './module.ts'
import { isBusy } from './result-codes.ts'

/** Long enough for a command to create the schema of a new database under this lock. */
const LOCK_WAIT_MS = 1000

export interface FileLock {
  /** The device and inode number of the lock file: an engine that held this very file has ended. */
  identity: string
  release(): void
}

/** Not a table of the schema: it belongs to the file, so it is made before the schema and not moved to another store. */
const TABLE = `CREATE TABLE IF NOT EXISTS engine_claim (id INTEGER PRIMARY KEY CHECK (id = 1), owner TEXT NOT NULL,
  since INTEGER NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, lock TEXT NOT NULL, has_ended INTEGER NOT NULL)`
const READ = 'SELECT owner, since, host, pid, lock, has_ended FROM engine_claim'
const WRITE = 'INSERT OR REPLACE INTO engine_claim VALUES (1, ?, ?, ?, ?, ?, 0)'
/** The owner of the claim. */
export const CLAIM_OWNER = 'SELECT owner FROM engine_claim'
export const END_CLAIM = 'UPDATE engine_claim SET has_ended = 1 WHERE owner = ?'
const HAS_CLAIM = `SELECT 1 FROM sqlite_master WHERE name = 'engine_claim'`

/** How long a start waits for others to close the database, before it refuses. */
const ALONE_WAIT_MS = 1000

interface Claim {
  owner: string
  since: number
  host: string
  pid: number
  /** The lock file that the engine held. */
  lock: string
  hasEnded: boolean
}

/**
 * Claims the database for an engine that holds the lock file of that identity; returns the engine's name in the claim. The
 * connection stays open while the engine runs. Throws if another engine has the database open.
 */
export function claimStore(connection: Connection, file: string, lock: string): string {
  const earlier = readClaim(connection)
  const perhapsRunning = unended(earlier, lock)
  if (perhapsRunning) beginAlone(connection, file, perhapsRunning)
  else connection.exec('BEGIN IMMEDIATE')
  try {
    const now = readClaim(connection)
    if (now?.owner !== earlier?.owner) throw new Error(runningOn(file, now as Claim))
    connection.exec(TABLE)
    const owner = randomUUID()
    connection.prepare(WRITE).run([owner, systemClock.now(), hostname(), process.pid, lock])
    connection.exec('COMMIT')
    // Into the file: a log is not found under another name of the database.
    connection.exec('PRAGMA wal_checkpoint(PASSIVE)')
    return owner
  } catch (error) {
    connection.rollback()
    throw error
  }
}

/**
 * Takes the lock, which is SQLite's own, on a file next to the database. The operating system releases it when the process dies,
 * however it dies.
 */
export async function lockFile(file: string): Promise<FileLock> {
  const path = `${file}.lock`
  let database: Database | undefined
  try {
    createPrivateFile(path)
    const { DatabaseSync } = await loadSqlite()
    database = new DatabaseSync(path)
    database.exec(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}; BEGIN EXCLUSIVE`)
    const lock = database
    return { identity: identityOf(path) ?? '', release: () => lock.close() }
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

/** Takes the lock file for a command on the whole store. Rejects if an engine has the database open, by any name. */
export async function lockStore(file: string): Promise<FileLock> {
  const lock = await lockFile(file)
  try {
    refuseLinks(file)
    if (!isEmpty(file)) await refuseOthers(file, lock.identity)
    return lock
  } catch (error) {
    lock.release()
    throw error
  }
}

async function refuseOthers(file: string, lock: string): Promise<void> {
  // A file that cannot be opened has no engine, and a restore replaces it.
  const connection = await Connection.open(file, { readOnly: false }).catch(() => undefined)
  if (!connection) return
  try {
    const perhapsRunning = unended(readClaim(connection), lock)
    if (perhapsRunning) beginAlone(connection, file, perhapsRunning)
  } finally {
    connection.rollback()
    connection.close()
  }
}

/** Ends every claim in a copy, which no engine has open. */
export function endEveryClaim(connection: Connection): void {
  if (hasClaim(connection)) connection.exec('UPDATE engine_claim SET has_ended = 1')
}

function hasClaim(connection: Connection): boolean {
  return connection.prepare(HAS_CLAIM).all([]).length > 0
}

function readClaim(connection: Connection): Claim | undefined {
  if (!hasClaim(connection)) return undefined
  const [row] = connection.prepare(READ).all([]) as [string, number, string, number, string, number][]
  if (!row) return undefined
  const [owner, since, host, pid, lock, hasEnded] = row
  return { owner, since, host, pid, lock, hasEnded: hasEnded === 1 }
}

/** The claim, unless its engine is known to have ended: it said so, or it held the very lock file that is ours now. */
function unended(claim: Claim | undefined, lock: string): Claim | undefined {
  return claim?.hasEnded || claim?.lock === lock ? undefined : claim
}

/**
 * Begins a transaction, if nobody else has the database open. Every connection has a shared lock on the file until it is closed
 * or its process dies, and an exclusive lock waits for all of them. After the transaction the lock is a shared one again.
 */
function beginAlone(connection: Connection, file: string, earlier: Claim): void {
  connection.exec(`PRAGMA busy_timeout = ${ALONE_WAIT_MS}; PRAGMA locking_mode = EXCLUSIVE`)
  try {
    connection.exec('BEGIN IMMEDIATE')
  } catch (cause) {
    throw isBusy(cause) ? new Error(runningOn(file, earlier), { cause }) : cause
  } finally {
    connection.exec('PRAGMA locking_mode = NORMAL')
  }
}

function runningOn(file: string, { host, pid, since }: Claim): string {
  return (
    `another engine is running on ${file}: process ${pid} of ${host}, since ${new Date(since).toISOString()}. If it has ended, ` +
    `another program has the file open (fuser ${file} names it)`
  )
}
