// Whether a session has its own connection to PostgreSQL, as the engine needs it: settings, prepared statements and locks belong
// to the connection, and a pooler may give each transaction a different one (docs/poolers.md). Called by client.

import type { ClientBase } from 'pg'

/** Transactions of a session that must meet its own connection, while another session is active at the same time. */
const TRANSACTIONS = 3
/** Connections that an engine may have at the same time. */
export const ENGINE_CONNECTIONS = 10

/** SQLSTATE of a server that refuses a connection: the store counts as unavailable. */
const REFUSED = '08004'
/** SQLSTATEs of a statement that met a connection without its preparation, or a pooler that refuses transactions. */
const NOT_OWN: readonly unknown[] = ['26000', '42P05', '08P01']

const SHARED =
  'a pooler gives each transaction a different connection to PostgreSQL, where settings, prepared statements and ' +
  'locks of the engine are missing: use session mode (PgBouncer: pool_mode = session), or the address of PostgreSQL itself'
const NO_ROOM =
  'a pooler has no second connection to PostgreSQL for the engine, which needs up to ' +
  `${ENGINE_CONNECTIONS}: allow more (PgBouncer: default_pool_size, max_db_connections)`

interface Connection {
  /** The process of the server that has the connection. A pooler reports another number when the session connects. */
  backend: number
  names: readonly string[]
  /** The values of the settings, as the server writes them. */
  values: readonly (string | null)[]
}

const connections = new WeakMap<ClientBase, Connection>()

/** The number of the session's process on the server, as in `pg_stat_activity`. */
export function backendOf(client: ClientBase): number | undefined {
  return connections.get(client)?.backend
}

/** Whether a pooler is between the session and PostgreSQL. */
export function isPooled(client: ClientBase): boolean {
  return (client as ClientBase & { processID: number | null }).processID !== backendOf(client)
}

/** Called when a session has connected, before it has any other setting. */
export async function noteConnection(client: ClientBase): Promise<void> {
  // A setting of its own makes a pooler that looks for such statements reserve the connection for this session.
  const text = `SET perdure.session = 'own'; SELECT pg_backend_pid()`
  const answers = (await client.query({ text, rowMode: 'array' })) as unknown as { rows: [number][] }[]
  connections.set(client, { backend: answers[1]?.rows[0]?.[0] ?? 0, names: ['perdure.session'], values: ['own'] })
}

/** Called when the session has its settings, with their values as the server writes them. */
export function markSettled(client: ClientBase, names: readonly string[], values: readonly (string | null)[]): void {
  const { backend = 0 } = connections.get(client) ?? {}
  connections.set(client, { backend, names, values })
}

/**
 * Rejects if a pooler shares the session's connection. To find out, another session begins a transaction: a sharing pooler takes
 * the connection that was just used, or moves this session to another one.
 */
export async function refuseSharedConnection(
  client: ClientBase,
  openAnother: () => Promise<ClientBase & { end(): Promise<void> }>,
): Promise<void> {
  if (!isPooled(client)) return
  const other = await openAnother()
  try {
    const [, answer] = (await other.query({
      text: 'BEGIN; SELECT pg_backend_pid()',
      rowMode: 'array',
    })) as unknown as { rows: [number][] }[]
    if (answer?.rows[0]?.[0] === backendOf(client)) throw refused(SHARED)
    await refuseLostConnection(client)
    await other.query('COMMIT')
    for (let i = 1; i < TRANSACTIONS; i++) await refuseLostConnection(client)
  } catch (cause) {
    const { code, message } = cause as Error & { code?: unknown }
    if (/timeout/i.test(message)) throw refused(NO_ROOM, cause)
    throw NOT_OWN.includes(code) ? refused(SHARED, cause) : cause
  } finally {
    void other.end().catch(() => {})
  }
}

/** Rejects if the session has a different connection than before, or its settings are lost. Costs nothing without a pooler. */
export async function refuseLostConnection(client: ClientBase): Promise<void> {
  const { backend, names, values } = connections.get(client) ?? {}
  if (!isPooled(client)) return
  const { rows } = await client.query<[number, (string | null)[]]>({
    name: 'perdure_connection',
    text: 'SELECT pg_backend_pid(), ARRAY(SELECT current_setting(name, true) FROM unnest($1::text[]) AS named (name))',
    values: [names],
    rowMode: 'array',
  })
  const [nowBackend, nowValues] = rows[0] as [number, (string | null)[]]
  if (nowBackend !== backend || nowValues.some((value, i) => value !== values?.[i])) throw refused(SHARED)
}

/** Whether a session could not be opened because of the pooler in between. */
export function isUnfit(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message: string }
  return code === REFUSED && /pooler/.test(message)
}

function refused(message: string, cause?: unknown): Error {
  return Object.assign(new Error(`${message} (docs/poolers.md)`, { cause }), { code: REFUSED })
}
