// A PostgreSQL store as it is at one moment, whatever its engines write. Used by compose/maintenance.ts for `verify`.

import { numbered } from '../description/placeholders.ts'
import type { Snapshot } from '../verify/check.ts'
import { openClient, rowsOf } from './client.ts'
import { refuseUnfinishedMove, SCHEMA_VERSION } from './migrations.ts'

export const INVALID_INDEXES = `SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = current_schema() AND NOT i.indisvalid`

/** Rejects if the server cannot be reached, or has another schema version. */
export async function openPostgresSnapshot(url: string): Promise<Snapshot> {
  // Here a query may take longer than an engine would wait, and so may the time between two queries.
  const client = await openClient(url, () => {}, { answerMsMax: 0 })
  try {
    await client.query('SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0')
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const version = await schemaVersionOf(client)
    if (version !== SCHEMA_VERSION)
      throw new Error(
        `the store has schema version ${version}, but this perdure supports only version ${SCHEMA_VERSION}`,
      )
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
  return {
    rows: (sql, params = []) => rowsOf(client, numbered(sql), params),
    damage: async () =>
      (await rowsOf(client, INVALID_INDEXES)).map(([name]) => `index ${name} is not valid: REINDEX it`),
    close: () => client.end(),
  }
}

/** Returns the version of the schema; 0 if no engine has ever used it. Rejects while a move into it is not finished. */
export async function schemaVersionOf(client: Parameters<typeof rowsOf>[0]): Promise<number> {
  const [table] = await rowsOf(client, `SELECT to_regclass('migrations')::text`)
  if (table?.[0] === null) return 0
  await refuseUnfinishedMove(client)
  const [[version]] = (await rowsOf(client, 'SELECT coalesce(max(version), 0) FROM migrations')) as [[number]]
  return version
}
