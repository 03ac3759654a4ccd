// Brings a PostgreSQL schema up to date: its numbered steps, and the functions that the shared SQL expects. Run by every
// engine that starts, one at a time.

import type { Client } from 'pg'
import { rowsOf } from './client.ts'
import { MIGRATIONS, NEEDS_VERSION } from './schema.ts'
import { SEARCH_FUNCTIONS } from './search-functions.ts'
import { CREATE_WRITE_FUNCTION, LOCKS, WRITE_FUNCTION } from './write-function.ts'

/** The version that `migrate` brings a schema to. */
export const SCHEMA_VERSION = MIGRATIONS.length

/** Engines that start together wait for each other, for as long as a migration may take. */
const TURN = `SET LOCAL lock_timeout = '5min'; SET LOCAL statement_timeout = 0`
/** A table that is in use is waited for only so long: all that use it wait behind. */
const WORK = `SET LOCAL lock_timeout = '20s'`

const KNOWS_NEEDS = `SELECT 1 FROM pg_attribute WHERE attrelid = 'migrations'::regclass AND attname = 'needs'`

/**
 * Brings the schema to this code's version; an engine that runs on an older version goes on. One that starts on a newer
 * version leaves the schema as it is. Rejects when that version is not for engines as old as this one.
 */
export async function migrate(client: Client): Promise<void> {
  await client.query('BEGIN')
  try {
    await client.query(TURN)
    await client.query(`SELECT pg_advisory_xact_lock(${LOCKS.migrate}, hashtext(current_schema()))`)
    await client.query(WORK)
    const { newest, needs } = await found(client)
    if (needs > MIGRATIONS.length) {
      throw new Error(
        `the database has schema version ${newest}, which needs an engine that knows version ${needs}; this one knows up to ${MIGRATIONS.length}: use a newer engine`,
      )
    }
    for (let version = newest + 1; version <= MIGRATIONS.length; version++) {
      await client.query(MIGRATIONS[version - 1] as string)
      await client.query('INSERT INTO migrations (version, needs) VALUES ($1, $2)', [version, NEEDS_VERSION])
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

/** The version of the schema, and what an engine has to know to work on it. */
async function found(client: Client): Promise<{ newest: number; needs: number }> {
  await client.query(
    'CREATE TABLE IF NOT EXISTS migrations (version bigint PRIMARY KEY, needs bigint NOT NULL DEFAULT 1)',
  )
  // To alter a table waits for whoever reads it, as verify does, also where there is nothing to add.
  const [known] = await rowsOf(client, KNOWS_NEEDS)
  if (!known) await client.query('ALTER TABLE migrations ADD COLUMN needs bigint NOT NULL DEFAULT 1')
  const sql = 'SELECT coalesce(max(version), 0), coalesce(max(needs), 0) FROM migrations'
  const [[newest, needs]] = (await rowsOf(client, sql)) as [[number, number]]
  return { newest, needs }
}

async function schemaOf(client: Client): Promise<string> {
  const [[schema]] = (await rowsOf(client, 'SELECT quote_ident(current_schema())')) as [[string]]
  return schema
}
