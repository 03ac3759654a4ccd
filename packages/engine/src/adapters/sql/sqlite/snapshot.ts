// A SQLite file as it is at one moment, read while an engine may run on it. Used by compose/maintenance.ts for `verify`.

import { existsSync } from 'node:fs'
import type { Snapshot } from '../verify/check.ts'
import { Connection } from './connection.ts'
import { SCHEMA_VERSION, schemaVersion } from './migrations.ts'
import { untyped } from './statements.ts'

/** Rejects if the file is missing, is not a store, or has another schema version. */
export async function openSqliteSnapshot(file: string): Promise<Snapshot> {
  if (!existsSync(file)) throw new Error(`there is no file ${file}`)
  const connection = await Connection.open(file, { readOnly: true })
  try {
    // The first read fixes the moment.
    connection.exec('BEGIN')
    refuseOtherVersion(schemaVersion(connection))
  } catch (error) {
    connection.close()
    throw new Error(`${file} cannot be read: ${(error as Error).message}`, { cause: error })
  }
  return {
    rows: async (sql, params = []) => connection.prepare(untyped(sql)).all(params),
    damage: async () => damageOf(connection),
    close: async () => connection.close(),
  }
}

/** Faults that SQLite finds in the file's pages and indexes. */
export function damageOf(connection: Connection): string[] {
  const lines = connection.prepare('PRAGMA integrity_check(100)').all([]) as [string][]
  return lines.map(([line]) => line).filter(line => line !== 'ok')
}

/** Throws if the schema is not the one that this code knows. */
function refuseOtherVersion(version: number): void {
  if (version === SCHEMA_VERSION) return
  throw new Error(`it has schema version ${version}, but this perdure supports only version ${SCHEMA_VERSION}`)
}
