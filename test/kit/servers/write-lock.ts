// The write lock of a PostgreSQL schema. A test takes it, and sees which connections hold it or wait for it, and for how long.

import { Client } from 'pg'
import { LOCKS } from '../../../packages/engine/src/adapters/sql/postgres/write-function.ts'
import { onCleanup } from '../cleanup.ts'
import { POSTGRES_URL } from './postgres.ts'

const LOCK = `(${LOCKS.write}, hashtext($1))`
const SEEN = `SELECT l.pid, l.granted, extract(epoch FROM clock_timestamp() - a.query_start) * 1000 AS ms
  FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE l.locktype = 'advisory' AND l.classid = ${LOCKS.write}
    AND l.objid::bigint = hashtext($1)::bigint & 4294967295 AND l.pid <> pg_backend_pid()`

interface Seen {
  pid: number
  granted: boolean
  /** How long the connection's statement has run. */
  ms: number
}

export class WriteLock {
  readonly #client: Client
  readonly #schema: string

  private constructor(client: Client, schema: string) {
    this.#client = client
    this.#schema = schema
  }

  /** The write lock of the schema at the address. */
  static async of(url: string): Promise<WriteLock> {
    const client = new Client({ connectionString: POSTGRES_URL })
    await client.connect()
    onCleanup(() => client.end())
    return new WriteLock(client, new URL(url).searchParams.get('application_name') ?? '')
  }

  /** Takes the lock. Nobody can write until the test releases it. */
  async take(): Promise<void> {
    await this.#client.query(`SELECT pg_advisory_lock${LOCK}`, [this.#schema])
  }

  async release(): Promise<void> {
    await this.#client.query(`SELECT pg_advisory_unlock${LOCK}`, [this.#schema])
  }

  /** The connections that wait for the lock now. */
  async waiting(): Promise<Seen[]> {
    return (await this.#seen()).filter(({ granted }) => !granted)
  }

  /** Whether a connection other than the test's holds the lock. */
  async isHeld(): Promise<boolean> {
    return (await this.#seen()).some(({ granted }) => granted)
  }

  /** Ends a connection, as an administrator would. */
  async terminate(pid: number): Promise<void> {
    await this.#client.query('SELECT pg_terminate_backend($1)', [pid])
  }

  async #seen(): Promise<Seen[]> {
    const { rows } = await this.#client.query<{ pid: number; granted: boolean; ms: string }>(SEEN, [this.#schema])
    return rows.map(row => ({ ...row, ms: Number(row.ms) }))
  }
}
