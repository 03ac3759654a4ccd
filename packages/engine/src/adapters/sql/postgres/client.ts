// Connections to PostgreSQL as the driver uses them: rows as arrays, bigints as numbers, text in its stored form, and
// every wait with a bound. One that is lost is replaced at the next use.

import { Client, Pool, type PoolClient, types } from 'pg'
import { fromStored, toStored } from '../description/stored-text.ts'
import type { Row, Value } from '../description/values.ts'

/** Bounds of every session. A client that froze in the middle of a transaction must not hold the others up. */
const SESSION = [
  'statement_timeout=60000',
  'lock_timeout=20000',
  'idle_in_transaction_session_timeout=5000',
  'client_min_messages=warning',
  // Statements are many and short: compiling one costs more than running it.
  'jit=off',
  // The server too notices a client that has vanished, instead of keeping its session for hours.
  'tcp_keepalives_idle=10',
  'tcp_keepalives_interval=5',
  'tcp_keepalives_count=3',
]
const CONNECT_TIMEOUT_MS = 5000
/** The last resort, beyond what the server allows a statement. Whoever waits for less says so, or asks (patience.ts). */
const ANSWER_MS_MAX = 65_000
/** From when on the kernel asks after a connection on which nothing is said, on either side. */
const QUIET_MS = 10_000

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

export interface SessionBounds {
  /** To connect. */
  connectMsMax?: number
  /** For each answer; 0 for none. */
  answerMsMax?: number
  /** For statements that come again and again: each is planned once, along an index. */
  plansOnce?: boolean
}

/**
 * Left to itself, the server plans some statements anew at every use, which costs as much as running them; and a plan
 * that stays, made while a table was small, would walk through all of it when it is large.
 */
const PLANNED_ONCE = ['plan_cache_mode=force_generic_plan', 'enable_seqscan=off', 'enable_bitmapscan=off']

/** What the address sets itself comes last, and wins. */
function settings(
  url: string,
  { connectMsMax = CONNECT_TIMEOUT_MS, answerMsMax = ANSWER_MS_MAX, plansOnce = false }: SessionBounds,
) {
  const given = new URL(url).searchParams.get('options') ?? ''
  const set = plansOnce ? [...SESSION, ...PLANNED_ONCE] : SESSION
  return {
    connectionString: withoutOptions(url),
    options: `${set.map(setting => `-c ${setting}`).join(' ')} ${given}`.trim(),
    connectionTimeoutMillis: connectMsMax,
    query_timeout: answerMsMax,
    application_name: 'perdure',
    keepAlive: true,
    keepAliveInitialDelayMillis: QUIET_MS,
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
export async function openSession(
  url: string,
  onLost: (error: Error) => void,
  bounds: SessionBounds = {},
): Promise<Client> {
  const client = new Client(settings(url, bounds))
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
  const pool = new Pool({ ...settings(url, {}), max, idleTimeoutMillis: 30_000, allowExitOnIdle: true })
  pool.on('error', onLost)
  // Of a session that is lost between two queries of the one who has it: the next query tells.
  pool.on('connect', client => client.on('error', () => {}))
  return pool
}

/** To say goodbye. */
const END_MS_MAX = 1000

/** Resolves when the other side has heard the goodbye, or has had the time to. The process need not wait for it. */
export async function end(open: Client | Pool): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>(resolve => {
    timer = setTimeout(resolve, END_MS_MAX)
  })
  await Promise.race([open.end().catch(() => {}), late])
  clearTimeout(timer)
  if (open instanceof Client) (open as Client & { unref(): void }).unref()
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
