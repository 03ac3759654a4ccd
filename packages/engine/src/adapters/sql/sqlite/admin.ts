// Opens a SQLite file for administration while an engine may be running on it: one more connection, without the engine's lock.
// Called by compose/administration.ts.

import { existsSync } from 'node:fs'
import type { Admin } from '../../../ports/admin.ts'
import { BatchQueue } from '../batches/batch-queue.ts'
import { InlineChannel } from '../batches/channel.ts'
import { SqlAdmin } from '../store/sql-admin.ts'
import { lockStore } from './claim.ts'
import { Connection } from './connection.ts'
import { SqliteDatabase } from './database.ts'
import { createDatabaseFile, databasePath } from './files/store-files.ts'
import { migrate, SCHEMA_VERSION, schemaVersion } from './migrations.ts'
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

export interface OpenAdmin {
  admin: Admin
  close(): Promise<void>
}

/** Most attempts to take the lock of a database without a schema; a starting engine holds it while it makes the schema. */
const LOCK_TRIES_MAX = 5

/** Creates the database if there is none. Rejects if it belongs to another version of the engine. */
export async function openSqliteAdmin(file: string): Promise<OpenAdmin> {
  const path = databasePath(file)
  await prepare(path)
  const connection = await Connection.open(path, { readOnly: false })
  const writer = new Writer(connection)
  const reader = new Reader(connection)
  const channel = (run: Writer['run'] | Reader['run']) =>
    new BatchQueue(new InlineChannel({ run, close: () => {} }), () => {})
  const reading = channel(batch => reader.run(batch))
  const database = new SqliteDatabase({
    writer: channel(batch => writer.run(batch)),
    reader: reading,
    openScanner: async () => reading,
    // Not `writer.close()`: its checkpoint would wait for the engine's readers.
    release: () => connection.close(),
  })
  return { admin: new SqlAdmin(database), close: () => database.close() }
}

/** The schema changes only under the lock, and so never while an engine runs on it. */
async function prepare(path: string): Promise<void> {
  for (let tries = 1; (await versionOf(path)) !== SCHEMA_VERSION; tries++) {
    const lock = await lockStore(path).catch(error => {
      if (tries === LOCK_TRIES_MAX) throw error
    })
    if (lock) await migrateFile(path).finally(() => lock.release())
  }
}

async function versionOf(path: string): Promise<number> {
  return existsSync(path) ? Connection.use(path, { readOnly: true }, schemaVersion) : 0
}

async function migrateFile(path: string): Promise<void> {
  createDatabaseFile(path)
  await Connection.use(path, { readOnly: false }, migrate)
}
