// Brings a PostgreSQL schema up to date: its numbered steps, made from the descriptions of the tables, and the functions that the
// shared SQL calls. Every engine runs it when it starts, one at a time.

import type { Client } from 'pg'
import { type DdlDialect, schemaSteps } from '../description/ddl.ts'
import { MOVE_TABLE, UNFINISHED_MOVE } from '../tables/bookkeeping.ts'
import { SET_KINDS } from '../tables/runs.ts'
import { TABLES } from '../tables/tables.ts'
import { type Queryable, rowsOf } from './client.ts'
import { CREATE_ENGINES } from './engine-reports.ts'
import { SEARCH_FUNCTIONS } from './search-functions.ts'
import { CREATE_WRITE_FUNCTION, LOCKS, WRITE_FUNCTION } from './write-function.ts'

export const POSTGRES_DDL: DdlDialect = {
  name: 'postgres',
  types: { text: 'text COLLATE "C"', integer: 'bigint', real: 'double precision' },
  position: 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
  stored: '',
  own: {
    1: `
-- One row per writer: the answers to its last batch, for the case that they are lost on the way.
CREATE TABLE writers (
  writer text COLLATE "C" PRIMARY KEY,
  batch bigint NOT NULL,
  answers int[] NOT NULL,
  at timestamptz NOT NULL DEFAULT now()
);

-- Messages between engines that are too long for a notification, until their receiver has read them (adapters/bus).
CREATE TABLE wire_messages (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  body text NOT NULL,
  at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX wire_messages_by_age ON wire_messages (at);
`,
    2: CREATE_ENGINES,
    3: SET_KINDS,
  },
}

/**
 * The steps of the schema. A released step is never edited, and an engine of the previous version must be able to work on the
 * schema that the next step makes: a change is a new step, and only adds.
 */
export const MIGRATIONS: readonly string[] = schemaSteps(POSTGRES_DDL, TABLES)

/** The oldest engine that can work on this schema, by the last step that it knows. Rises with a step that does not only add. */
export const NEEDS_VERSION = 1

/** The version that `migrate` brings a schema to. */
export const SCHEMA_VERSION = MIGRATIONS.length

/** Engines that start together wait for each other for the longest time a migration may take. */
const WAIT_FOR_OTHERS = `SET LOCAL lock_timeout = '5min'; SET LOCAL statement_timeout = 0`
/** A step waits only briefly for a table in use: all users of the table wait behind it. */
const WAIT_FOR_TABLES = `SET LOCAL lock_timeout = '20s'`

/**
 * Brings the schema to this code's version; engines that run on an older version continue. An engine that starts on a newer
 * version leaves the schema as it is. Rejects if the newer version does not support engines as old as this one.
 */
export async function migrate(client: Client, steps = MIGRATIONS): Promise<void> {
  await client.query('BEGIN')
  try {
    await client.query(WAIT_FOR_OTHERS)
    await client.query(`SELECT pg_advisory_xact_lock(${LOCKS.migrate}, hashtext(current_schema()))`)
    await client.query(WAIT_FOR_TABLES)
    await refuseUnfinishedMove(client)
    await takeSteps(client, steps)
    // A batch of an engine that died a day ago cannot still be on its way.
    await client.query(`DELETE FROM writers WHERE at < now() - interval '1 day'`)
    await createFunctions(client)
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

/** Rejects if a move into the schema is not finished. */
export async function refuseUnfinishedMove(client: Queryable): Promise<void> {
  const [row] = await rowsOf(client, `SELECT to_regclass('${MOVE_TABLE}')::text`)
  if (row?.[0] !== null) throw new Error(UNFINISHED_MOVE)
}

async function takeSteps(client: Client, steps: readonly string[]): Promise<void> {
  await client.query('CREATE TABLE IF NOT EXISTS migrations (version bigint PRIMARY KEY, needs bigint NOT NULL)')
  const sql = 'SELECT coalesce(max(version), 0), coalesce(max(needs), 0) FROM migrations'
  const [[newest, needs]] = (await rowsOf(client, sql)) as [[number, number]]
  if (needs > steps.length) {
    throw new Error(
      `the database has schema version ${newest}, which needs an engine that supports version ${needs}; this one supports versions up to ${steps.length}: use a newer engine`,
    )
  }
  for (let version = newest + 1; version <= steps.length; version++) {
    await client.query(steps[version - 1] as string)
    await client.query('INSERT INTO migrations (version, needs) VALUES ($1, $2)', [version, NEEDS_VERSION])
  }
}

/** The write function's name changes with its body. The search functions are created with it; their texts are always the same. */
async function createFunctions(client: Client): Promise<void> {
  const [[schema]] = (await rowsOf(client, 'SELECT quote_ident(current_schema())')) as [[string]]
  const exists = 'SELECT 1 FROM pg_proc WHERE proname = $1 AND pronamespace = $2::regnamespace'
  if ((await rowsOf(client, exists, [WRITE_FUNCTION, schema])).length > 0) return
  for (const sql of [...SEARCH_FUNCTIONS, CREATE_WRITE_FUNCTION]) await client.query(sql)
}
