// The schema of a SQLite store, as numbered steps made from the descriptions of the tables. Run by every process that opens
// the database for writing.

import { type DdlDialect, schemaSteps } from '../description/ddl.ts'
import { MOVE_TABLE, UNFINISHED_MOVE } from '../tables/bookkeeping.ts'
import { SET_KINDS } from '../tables/runs.ts'
import { TABLES } from '../tables/tables.ts'
import type { Connection } from './connection.ts'

export const SQLITE_DDL: DdlDialect = {
  name: 'sqlite',
  types: { text: 'TEXT', integer: 'INTEGER', real: 'REAL' },
  position: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  stored: ' WITHOUT ROWID',
  own: { 3: SET_KINDS },
}

/** The steps of the schema. A released step is never edited: a change is a new step. */
export const MIGRATIONS: readonly string[] = schemaSteps(SQLITE_DDL, TABLES)

/** The version that `migrate` brings a database to. */
export const SCHEMA_VERSION = MIGRATIONS.length

/** The version of the database; 0 when it is new. Throws while a move into it is not finished. */
export function schemaVersion(connection: Connection): number {
  const sql = `SELECT name FROM sqlite_master WHERE name IN ('migrations', '${MOVE_TABLE}')`
  const tables = connection.prepare(sql).all([]).flat()
  if (tables.includes(MOVE_TABLE)) throw new Error(UNFINISHED_MOVE)
  if (tables.length === 0) return 0
  const [[newest]] = connection.prepare('SELECT coalesce(max(version), 0) FROM migrations').all([]) as [[number]]
  return newest
}

/** Brings the database to the last of the steps. Throws if a newer engine has used the database. */
export function migrate(connection: Connection, steps = MIGRATIONS): void {
  connection.exec('CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY)')
  const newest = schemaVersion(connection)
  if (newest > steps.length) {
    throw new Error(
      `the database has schema version ${newest}, but this engine supports only versions up to ${steps.length}: use a newer engine`,
    )
  }
  for (let version = newest + 1; version <= steps.length; version++) {
    connection.exec(`BEGIN IMMEDIATE; ${steps[version - 1]};
      INSERT INTO migrations VALUES (${version}); COMMIT`)
  }
}
