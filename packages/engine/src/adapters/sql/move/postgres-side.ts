// A PostgreSQL schema as a side of a move, under a lock that keeps engines out.

import type { Client } from 'pg'
import { withoutPassword } from '../../../domain/text/service-url.ts'
import { numbered } from '../description/placeholders.ts'
import { toStored } from '../description/stored-text.ts'
import type { Row } from '../description/values.ts'
import { end, openClient, rowsOf } from '../postgres/client.ts'
import { migrate, SCHEMA_VERSION } from '../postgres/migrations.ts'
import { INVALID_INDEXES, schemaVersionOf } from '../postgres/snapshot.ts'
import { takeWholeStore } from '../postgres/use-lock.ts'
import type { CopiedTable } from './copied-tables.ts'
import { type MoveRole, refuseOtherVersion } from './role.ts'
import type { MoveSide } from './side.ts'

const ARRAYS = { text: 'text[]', integer: 'bigint[]', real: 'double precision[]' } as const

/** Rejects if the server cannot be reached, an engine uses the schema, or the source is of another version. */
export async function openPostgresSide(url: string, role: MoveRole): Promise<MoveSide> {
  const client = await openClient(url, () => {}, { answerMsMax: 0 })
  try {
    await client.query('SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0')
    await takeWholeStore(client)
    if (role === 'source') refuseOtherVersion(await schemaVersionOf(client), SCHEMA_VERSION)
    return sideOn(client, withoutPassword(url))
  } catch (error) {
    await end(client)
    throw error
  }
}

function sideOn(client: Client, name: string): MoveSide {
  const rows: MoveSide['rows'] = (sql, params = []) => rowsOf(client, numbered(sql), params)
  const run: MoveSide['run'] = async (sql, params) => void (await rows(sql, params))
  const sequenceOf = async ({ name, position }: CopiedTable) => {
    const [row] = await rows('SELECT pg_get_serial_sequence(?, ?)', [name, position as string])
    return row?.[0] as string
  }
  return {
    name,
    rows,
    run,
    has: async table => (await rows('SELECT to_regclass(?) IS NOT NULL', [table]))[0]?.[0] as unknown as boolean,
    damage: async () => (await rows(INVALID_INDEXES)).map(([name]) => `index ${name} is not valid: REINDEX it`),
    migrate: () => migrate(client),
    insert: (table, inserted) => insert(client, table, inserted),
    async commit(work) {
      await client.query('BEGIN')
      try {
        await work()
        await client.query('COMMIT')
      } catch (error) {
        await client.query('ROLLBACK').catch(() => {})
        throw error
      }
    },
    async lastPosition(table) {
      const [row] = await rows(`SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM ${await sequenceOf(table)}`)
      return row?.[0] as number
    },
    async setLastPosition(table, position) {
      // A sequence begins at 1: the value 0 belongs to a sequence that was never called.
      await client.query('SELECT setval($1::regclass, greatest($2::bigint, 1), $2::bigint > 0)', [
        await sequenceOf(table),
        position,
      ])
    },
    close: () => end(client),
  }
}

/** Inserts all rows with one statement: an array for each column. */
async function insert(client: Client, { name, columns }: CopiedTable, rows: readonly Row[]): Promise<void> {
  const names = columns.map(column => column.name).join(', ')
  const arrays = columns.map(({ type }, i) => `$${i + 1}::${ARRAYS[type]}`).join(', ')
  const values = columns.map((_, i) =>
    rows.map(row => {
      const value = row[i] ?? null
      return typeof value === 'string' ? toStored(value) : value
    }),
  )
  const sql = `INSERT INTO ${name} (${names}) OVERRIDING SYSTEM VALUE SELECT * FROM unnest(${arrays})`
  await client.query(sql, values)
}
