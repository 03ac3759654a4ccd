// Brings a PostgreSQL schema up to date: its numbered steps, and the functions that the shared SQL expects. Run by every
// engine that starts, one at a time.

import type { Client } from 'pg'
import { rowsOf } from './client.ts'
import { MIGRATIONS } from './schema.ts'
import { SEARCH_FUNCTIONS } from './search-functions.ts'
import { CREATE_WRITE_FUNCTION, LOCKS, WRITE_FUNCTION } from './write-function.ts'

/** The version that `migrate` brings a schema to. */
export const SCHEMA_VERSION = MIGRATIONS.length

/**
 * Brings the schema to this code's version. Engines that start together wait for each other; one that runs on an older
 * version goes on. Rejects when a newer engine has been here with a step this one does not know.
 */
export async function migrate(client: Client): Promise<void> {
  await client.query('BEGIN')
  try {
    await client.query(`SELECT pg_advisory_xact_lock(${LOCKS.migrate}, hashtext(current_schema()))`)
    await client.query('CREATE TABLE IF NOT EXISTS migrations (version bigint PRIMARY KEY)')
    const [[newest]] = (await rowsOf(client, 'SELECT coalesce(max(version), 0) FROM migrations')) as [
      [number],
    ]
    if (newest > MIGRATIONS.length) {
      throw new Error(
        `the database has schema version ${newest}, this engine knows up to ${MIGRATIONS.length}: use a newer engine`,
      )
    }
    for (let version = newest + 1; version <= MIGRATIONS.length; version++) {
      await client.query(MIGRATIONS[version - 1] as string)
      await client.query('INSERT INTO migrations VALUES ($1)', [version])
    }
    // Of engines that died: no batch of theirs is on its way any more.
    await client.query(`DELETE FROM writers WHERE at < now() - interval '1 day'`)
    // Both are named, or written, such that the same text always does the same.
    const [known] = await rowsOf(
      client,
      'SELECT 1 FROM pg_proc WHERE proname = $1 AND pronamespace = $2::regnamespace',
      [WRITE_FUNCTION, await schemaOf(client)],
    )
    if (!known) for (const sql of [...SEARCH_FUNCTIONS, CREATE_WRITE_FUNCTION]) await client.query(sql)
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

async function schemaOf(client: Client): Promise<string> {
  const [[schema]] = (await rowsOf(client, 'SELECT quote_ident(current_schema())')) as [[string]]
  return schema
}
