// A PostgreSQL schema for one workload, dropped afterwards.

import { Client } from 'pg'

let count = 0

/** The URL of a fresh schema in the database, and the function that drops it. */
export async function openSchema(address: string): Promise<{ url: string; drop(): Promise<void> }> {
  const schema = `perdure_bench_${process.pid}_${++count}`
  await onServer(address, `CREATE SCHEMA ${schema}`)
  const url = new URL(address)
  url.searchParams.set('options', `-c search_path=${schema}`)
  return { url: url.href, drop: () => onServer(address, `DROP SCHEMA ${schema} CASCADE`) }
}

/** Does what autovacuum does within minutes of many writes. Before it no list reads an index without its rows. */
export const vacuum = (url: string) => onServer(url, 'VACUUM (ANALYZE)')

async function onServer(address: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: address })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
