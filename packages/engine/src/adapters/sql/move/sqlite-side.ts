// A SQLite file as a side of a move, under the lock that its engine would take.

import { existsSync } from 'node:fs'
import { lockStore } from '../sqlite/claim.ts'
import { Connection } from '../sqlite/connection.ts'
import { createDatabaseFile, databasePath } from '../sqlite/files/store-files.ts'
import { migrate, SCHEMA_VERSION, schemaVersion } from '../sqlite/migrations.ts'
import { damageOf } from '../sqlite/snapshot.ts'
import { untyped } from '../sqlite/statements.ts'
import { type MoveRole, refuseOtherVersion } from './role.ts'
import type { MoveSide } from './side.ts'

/** Creates the file of a target. Rejects if an engine has it open, or if the source is missing or of another version. */
export async function openSqliteSide(file: string, role: MoveRole): Promise<MoveSide> {
  if (role === 'source' && !existsSync(file)) throw new Error(`there is no file ${file}`)
  const path = databasePath(file)
  const lock = await lockStore(path)
  let connection: Connection | undefined
  try {
    if (role === 'target') createDatabaseFile(path)
    connection = await Connection.open(path, { readOnly: role === 'source' })
    if (role === 'source') refuseOtherVersion(schemaVersion(connection), SCHEMA_VERSION)
    return sideOn(connection, file, () => lock.release())
  } catch (error) {
    connection?.close()
    lock.release()
    throw error
  }
}

function sideOn(connection: Connection, file: string, release: () => void): MoveSide {
  const rows = (sql: string, params: Parameters<MoveSide['rows']>[1] = []) =>
    connection.prepare(untyped(sql)).all(params)
  const run = (sql: string, params: Parameters<MoveSide['rows']>[1] = []) =>
    void connection.prepare(untyped(sql)).run(params)
  return {
    name: `sqlite:${file}`,
    rows: async (sql, params) => rows(sql, params),
    run: async (sql, params) => run(sql, params),
    has: async table => rows(`SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?`, [table]).length > 0,
    damage: async () => damageOf(connection),
    migrate: async () => migrate(connection),
    async insert({ name, columns }, inserted) {
      const names = columns.map(column => column.name)
      const sql = `INSERT INTO ${name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`
      for (const row of inserted) run(sql, row)
    },
    async commit(work) {
      connection.exec('BEGIN IMMEDIATE')
      try {
        await work()
        connection.exec('COMMIT')
      } catch (error) {
        connection.exec('ROLLBACK')
        throw error
      }
    },
    async lastPosition({ name }) {
      const [row] = rows('SELECT seq FROM sqlite_sequence WHERE name = ?', [name])
      return (row?.[0] as number | undefined) ?? 0
    },
    async setLastPosition({ name }, position) {
      run('DELETE FROM sqlite_sequence WHERE name = ?', [name])
      run('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)', [name, position])
    },
    async close() {
      connection.close()
      release()
    },
  }
}
