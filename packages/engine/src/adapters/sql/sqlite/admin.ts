// Opens a SQLite file to administer it, beside the engine that may be running on it: one more connection, without
// the engine's lock. Called by the engine package's `openAdministration`.

import { existsSync } from 'node:fs'
import type { Admin } from '../../../ports/admin.ts'
import { BatchQueue } from '../batches/batch-queue.ts'
import { InlineChannel } from '../batches/channel.ts'
import { SqlAdmin } from '../store/sql-admin.ts'
import { Connection } from './connection.ts'
import { SqliteDriver } from './driver.ts'
import { databasePath, lockFile } from './lock-file.ts'
import { migrate, SCHEMA_VERSION, schemaVersion } from './migrations.ts'
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

export interface OpenAdmin {
  admin: Admin
  close(): Promise<void>
}

/** While a starting engine makes the schema it holds the lock; each look waits for that a moment. */
const LOOKS_MAX = 5

/** Makes the database when there is none. Rejects when it belongs to another version of the engine. */
export async function openSqliteAdmin(file: string): Promise<OpenAdmin> {
  const path = databasePath(file)
  await prepare(path)
  const connection = await Connection.open(path, { readOnly: false })
  const writer = new Writer(connection)
  const reader = new Reader(connection)
  const channel = (run: Writer['run'] | Reader['run']) =>
    new BatchQueue(new InlineChannel({ run, close: () => {} }), () => {})
  const driver = new SqliteDriver({
    writer: channel(batch => writer.run(batch)),
    reader: channel(batch => reader.run(batch)),
    // Not the writer's own way to close: its checkpoint would wait for the engine's readers.
    release: () => connection.close(),
  })
  return { admin: new SqlAdmin(driver), close: () => driver.close() }
}

/** The schema is only ever changed under the lock, so never under an engine that runs. */
async function prepare(path: string): Promise<void> {
  for (let look = 1; (await versionOf(path)) !== SCHEMA_VERSION; look++) {
    const lock = await lockFile(path).catch(error => {
      if (look === LOOKS_MAX) throw error
    })
    if (lock) await migrateFile(path).finally(() => lock.release())
  }
}

async function versionOf(path: string): Promise<number> {
  if (!existsSync(path)) return 0
  const connection = await Connection.open(path, { readOnly: true })
  try {
    return schemaVersion(connection)
  } finally {
    connection.close()
  }
}

async function migrateFile(path: string): Promise<void> {
  const connection = await Connection.open(path, { readOnly: false })
  try {
    migrate(connection)
  } finally {
    connection.close()
  }
}
