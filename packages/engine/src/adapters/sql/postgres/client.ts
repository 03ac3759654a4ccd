// Connections to PostgreSQL as the driver uses them: rows as arrays, bigints as numbers, text in its stored form, and
// every wait with a bound. One that is lost is replaced at the next use.

import { Client, Pool, type PoolClient, types } from 'pg'
import type { Row, Value } from '../operations.ts'
import { fromStored, toStored } from '../text.ts'

/** Bounds of every session. A client that froze in the middle of a transaction must not hold the others up. */
const SESSION = [
  'statement_timeout=60000',
  'lock_timeout=20000',
  'idle_in_transaction_session_timeout=5000',
  'client_min_messages=warning',
]
const CONNECT_TIMEOUT_MS = 5000
/** A query that gets no answer at all: the server, or the way to it, is gone. */
const QUERY_TIMEOUT_MS = 65_000

const BIGINT = 20
const DOUBLE = 701
const NUMERIC = 1700

/** Numbers of the schema are far below 2^53; counts and sums come as numeric. */
const numbers = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === BIGINT || oid === DOUBLE || oid === NUMERIC) return Number
    return types.getTypeParser(oid, format as 'text')
  },
}

/** What runs queries: a session, or a pool of them. */
export type Session = Pick<PoolClient, 'query'>

function settings(url: string) {
  const given = new URL(url).searchParams.get('options') ?? ''
  return {
    connectionString: withoutOptions(url),
    options: `${given} ${SESSION.map(setting => `-c ${setting}`).join(' ')}`.trim(),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    application_name: 'perdure',
    keepAlive: true,
    types: numbers,
  }
}

/** They are given beside it, merged with ours. */
function withoutOptions(url: string): string {
  const bare = new URL(url)
  bare.searchParams.delete('options')
  return bare.href
}

/** A single session. Errors of an idle one are told to `onLost`, once. */
export async function openSession(url: string, onLost: (error: Error) => void): Promise<Client> {
  const client = new Client(settings(url))
  client.on('error', onLost)
  try {
    await client.connect()
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
  return client
}

/** Sessions for reads. Without its listener an idle session that is lost would end the process. */
export function openPool(url: string, max: number, onLost: (error: Error) => void): Pool {
  const pool = new Pool({ ...settings(url), max, idleTimeoutMillis: 30_000 })
  pool.on('error', onLost)
  // Of a session that is lost between two queries of the one who has it: the next query tells.
  pool.on('connect', client => client.on('error', () => {}))
  return pool
}

/** The rows of a statement. One with a name is prepared at its first use in a session. */
export async function rowsOf(
  session: Session,
  sql: string,
  params: readonly Value[] = [],
  name?: string,
): Promise<Row[]> {
  const values = params.map(value => (typeof value === 'string' ? toStored(value) : value))
  const query = { text: sql, values, rowMode: 'array' as const, ...(name === undefined ? {} : { name }) }
  const { rows } = await session.query<Value[]>(query)
  for (const row of rows) restore(row)
  return rows
}

/** Texts that have a name. Those of claims are a few dozen; should there be more, the rest is planned at each use. */
const NAMED_MAX = 200
const names = new Map<string, string>()

/** A name for a statement whose text is the same at every use, so that it is planned once in a session. */
export function nameOf(sql: string): string | undefined {
  const known = names.get(sql)
  if (known !== undefined || names.size >= NAMED_MAX) return known
  const name = `perdure_${names.size + 1}`
  names.set(sql, name)
  return name
}

function restore(row: Row): void {
  for (let i = 0; i < row.length; i++) {
    const value = row[i]
    if (typeof value === 'string') row[i] = fromStored(value)
  }
}
