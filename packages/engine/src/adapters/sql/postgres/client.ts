// Connections to PostgreSQL: rows as arrays, bigints as numbers, text in its stored form, and every wait bounded. A lost
// connection is replaced at the next use.

import type { Socket } from 'node:net'
import { Client, type ClientBase, type ClientConfig, Pool, type PoolClient, types } from 'pg'
import { within } from '../../../base/within.ts'
import { restore, toStored } from '../description/stored-text.ts'
import type { Row, Value } from '../description/values.ts'
import { applySettings, type ClientSettings, settingsOfAddress } from './client-settings.ts'
import { noteConnection, refuseSharedConnection } from './pooler.ts'

/** Settings of every connection. A client that freezes in the middle of a transaction must not block the others. */
const SETTINGS: ClientSettings = {
  statement_timeout: '60000',
  lock_timeout: '20000',
  idle_in_transaction_session_timeout: '5000',
  client_min_messages: 'warning',
  // Statements are many and short: to compile one costs more than to run it.
  jit: 'off',
  // The server also notices a vanished client, instead of keeping its connection for hours.
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '3',
}
const CONNECT_TIMEOUT_MS = 5000
/** The last resort, longer than the server's own limit for a statement. lost-answer.ts notices a lost answer much sooner. */
const ANSWER_MS_MAX = 65_000
/** Idle time after which the kernel checks whether the other side of a connection is still there. */
const KEEP_ALIVE_IDLE_MS = 10_000

const BIGINT = 20
const DOUBLE = 701
const NUMERIC = 1700

/** Numbers in the schema are far below 2^53; counts and sums have the type numeric. */
const numbers = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === BIGINT || oid === DOUBLE || oid === NUMERIC) return Number
    return types.getTypeParser(oid, format as 'text')
  },
}

/** Runs queries: a client, or a pool of clients. */
export type Queryable = Pick<PoolClient, 'query'>

export interface ClientBounds {
  /** Time to connect. */
  connectMsMax?: number
  /** Time for each answer; 0: no bound. */
  answerMsMax?: number
  /** Time for each statement, after which the server ends it; a minute by default. */
  statementMsMax?: number
  /** For statements that are used repeatedly: each is planned once, along an index. */
  plansOnce?: boolean
  /** Whether a pooler in between was checked before, for this address. */
  trustsPooler?: boolean
}

/**
 * By default the server plans some statements again at every use, which costs as much as running them. A plan that it keeps, made
 * while a table was small, would scan the whole table when it is large.
 */
const PLANNED_ONCE: ClientSettings = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
}

/** How a client connects, and its settings. Settings in the address take precedence. */
function configOf(
  url: string,
  { connectMsMax = CONNECT_TIMEOUT_MS, answerMsMax = ANSWER_MS_MAX, plansOnce = false, statementMsMax }: ClientBounds,
) {
  const address = settingsOfAddress(url)
  const settings: ClientSettings = {
    ...SETTINGS,
    ...(plansOnce ? PLANNED_ONCE : {}),
    ...(statementMsMax === undefined ? {} : { statement_timeout: String(statementMsMax) }),
    ...address.settings,
  }
  const config = {
    connectionString: address.bare,
    connectionTimeoutMillis: connectMsMax,
    query_timeout: answerMsMax,
    application_name: 'perdure',
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_IDLE_MS,
    types: numbers,
  }
  return { config, settings, connectMsMax }
}

/** A connection that sends nothing at its start that a pooler would refuse. `pg` would send the variable PGOPTIONS. */
class PlainClient extends Client {
  constructor(config?: string | ClientConfig) {
    super(config)
    Object.assign((this as unknown as { connectionParameters: object }).connectionParameters, { options: undefined })
  }
}

/** Opens a single client. An error while it is idle goes to `onLost`, once. */
export async function openClient(
  url: string,
  onLost: (error: Error) => void,
  bounds: ClientBounds = {},
): Promise<Client> {
  const { config, settings, connectMsMax } = configOf(url, bounds)
  const client = new PlainClient(config)
  client.on('error', onLost)
  const openAnother = async () => {
    const other = new PlainClient({ ...config, query_timeout: connectMsMax })
    other.on('error', () => {})
    await other.connect()
    return other
  }
  try {
    await client.connect()
    await inTime(noteConnection(client), connectMsMax)
    if (!bounds.trustsPooler) await refuseSharedConnection(client, openAnother)
    await inTime(applySettings(client, settings), connectMsMax)
  } catch (error) {
    void end(client)
    throw error
  }
  return client
}

/** A pooler accepts a session and makes its first statement wait for a connection to PostgreSQL. */
async function inTime(settled: Promise<void>, ms: number): Promise<void> {
  if (!(await within(ms, settled))) throw new Error(`timeout expired: no answer for ${ms} ms after connecting`)
}

/** Opens a pool of connections for reads. Without a listener, the loss of an idle connection would end the process. */
export function openPool(
  url: string,
  max: number,
  onLost: (error: Error) => void,
  bounds: Pick<ClientBounds, 'statementMsMax'> = {},
): Pool {
  const { config, settings, connectMsMax } = configOf(url, bounds)
  const settle = async (client: ClientBase) => {
    await noteConnection(client)
    await applySettings(client, settings)
  }
  const onConnect = (client: ClientBase) =>
    inTime(settle(client), connectMsMax).catch(error => {
      // Without its socket the pool ends the connection at once, even if nothing answers.
      ;(client as unknown as { connection: { stream: Socket } }).connection.stream.destroy()
      throw error
    })
  const pool = new Pool({
    ...config,
    Client: PlainClient,
    onConnect,
    max,
    idleTimeoutMillis: 30_000,
    allowExitOnIdle: true,
  })
  pool.on('error', onLost)
  // If a connection is lost between two queries of its user, the next query fails.
  pool.on('connect', client => client.on('error', () => {}))
  return pool
}

/** Longest time to end a connection properly. */
const END_MS_MAX = 1000

/** Resolves when the connection has ended, or the time for that is over. It does not keep the process from exiting. */
export async function end(open: Client | Pool): Promise<void> {
  await within(
    END_MS_MAX,
    open.end().catch(() => {}),
  )
  if (open instanceof Client) (open as Client & { unref(): void }).unref()
}

/** Returns the rows of a statement. A named statement is prepared at its first use on a connection. */
export async function rowsOf(
  client: Queryable,
  sql: string,
  params: readonly Value[] = [],
  name?: string,
): Promise<Row[]> {
  const values = params.map(value => (typeof value === 'string' ? toStored(value) : value))
  const query = { text: sql, values, rowMode: 'array' as const, ...(name === undefined ? {} : { name }) }
  const { rows } = await client.query<Value[]>(query)
  for (const row of rows) restore(row)
  return rows
}

/** Most named statements. Claims have a few dozen; statements beyond the bound are planned at each use. */
const NAMED_MAX = 200
const names = new Map<string, string>()

/** A name for a statement whose text is the same at every use, so that it is planned once on a connection. */
export function nameOf(sql: string): string | undefined {
  const known = names.get(sql)
  if (known !== undefined || names.size >= NAMED_MAX) return known
  const name = `perdure_${names.size + 1}`
  names.set(sql, name)
  return name
}
