// A PostgreSQL schema of a test's own, dropped with it.

import { Client } from 'pg'
import { onCleanup } from './cleanup.ts'
import { unique } from './temp.ts'

/** The server of this machine; its database is there for tests. */
export const POSTGRES_URL = process.env.PERDURE_TEST_POSTGRES ?? 'postgres://postgres@127.0.0.1:5432/test'

/** The address of a fresh, empty schema. */
export async function freshSchema(): Promise<string> {
  const schema = unique('perdure').replaceAll('-', '_').toLowerCase()
  await onServer(`CREATE SCHEMA ${schema}`)
  onCleanup(() => onServer(`DROP SCHEMA ${schema} CASCADE`))
  const url = new URL(POSTGRES_URL)
  url.searchParams.set('options', `-c search_path=${schema}`)
  return url.href
}

/** Empties every table of the schema behind the address: quicker than a schema for each test, and than TRUNCATE. */
export async function emptySchema(url: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()
        AND tablename NOT IN ('migrations', 'probes', 'admin_revision')`,
    )
    await client.query(rows.map(({ name }) => `DELETE FROM ${name}`).join('; '))
  } finally {
    await client.end()
  }
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
