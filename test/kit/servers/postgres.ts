// PostgreSQL schemas for single tests, dropped at the end of the test file.

import { Client } from 'pg'
import { onCleanup } from '../cleanup.ts'
import { uniqueHere } from '../temp.ts'
import { FILLED_TABLES } from './kept-open.ts'

/** The server on this machine, with a database for tests. */
export const POSTGRES_URL = process.env.PERDURE_TEST_POSTGRES ?? 'postgres://postgres@127.0.0.1:5432/test'

/** The address of a new, empty schema. */
export async function freshSchema(): Promise<string> {
  const schema = uniqueHere('perdure').replaceAll('-', '_').toLowerCase()
  await onServer(`CREATE SCHEMA ${schema}`)
  onCleanup(() => onServer(`DROP SCHEMA ${schema} CASCADE`))
  const url = new URL(POSTGRES_URL)
  url.searchParams.set('options', `-c search_path=${schema}`)
  // The application name marks the connections of the schema, so that `terminateBackends` finds them.
  url.searchParams.set('application_name', schema)
  return url.href
}

/** Empties every table of the schema at the address. That is quicker than a schema for each test, and than TRUNCATE. */
export async function openEmptier(url: string): Promise<{ empty(): Promise<void>; close(): Promise<void> }> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()
      AND tablename <> ALL ($1)`,
    [FILLED_TABLES],
  )
  const sql = rows.map(({ name }) => `DELETE FROM ${name}`).join('; ')
  return {
    async empty() {
      await client.query(sql)
    },
    close: () => client.end(),
  }
}

function nameOf(url: string): string {
  return new URL(url).searchParams.get('application_name') ?? ''
}

/** Ends every connection on the schema at the address, without stopping the server. */
export async function terminateBackends(url: string): Promise<void> {
  await onServer(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND application_name = '${nameOf(url)}'`,
  )
}

async function onServer(sql: string): Promise<void> {
  const client = new Client({ connectionString: POSTGRES_URL })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
