// Opens a store on PostgreSQL: one connection writes, a few read, two scan. Called by compose/backends for `postgres://` addresses.

import { randomUUID } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { EngineError } from '../../../domain/model/errors.ts'
import { withoutPassword } from '../../../domain/text/service-url.ts'
import { BatchQueue } from '../batches/batch-queue.ts'
import { numbered } from '../description/placeholders.ts'
import type { Query, Row } from '../description/values.ts'
import type { Database } from '../store/database.ts'
import { SqlStore } from '../store/sql-store.ts'
import { end, openClient, openPool, rowsOf } from './client.ts'
import { PostgresEngineReports } from './engine-reports.ts'
import { isUnavailable } from './failures.ts'
import { answerTo } from './lost-answer.ts'
import { migrate } from './migrations.ts'
import { backendOf, refuseLostConnection } from './pooler.ts'
import { shareStore } from './use-lock.ts'
import { Writer } from './writer.ts'

/** Most connections for the reads of one engine. */
const READERS_MAX = 4
/** Most connections for the scans of one engine, and the time limit of their statements. */
const SCANNERS_MAX = 2
const SCAN_MS_MAX = 30_000

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`; `?options=-csearch_path%3Dname` picks a schema. */
  url: string
  log?: { error(details: object, message: string): void }
}

export class PostgresStore extends SqlStore {
  readonly #pool: Pool
  readonly engines: PostgresEngineReports

  constructor(database: PostgresDatabase, pool: Pool) {
    super(database)
    this.#pool = pool
    this.engines = new PostgresEngineReports(query => database.execute(query))
  }

  /** Epoch ms by the server's clock, which all engines on the store use. */
  async serverTime(): Promise<number> {
    const [[now]] = (await rowsOf(this.#pool, 'SELECT extract(epoch FROM clock_timestamp()) * 1000')) as [[number]]
    return Math.floor(now)
  }
}

/** Brings the schema up to date. Rejects if the server cannot be reached, and names the server without its password. */
export async function openPostgresStore({ url, log }: PostgresStoreOptions): Promise<PostgresStore> {
  const onError = (details: object, message: string) => log?.error(details, message)
  await prepare(url)
  const writer = new BatchQueue(new Writer({ url, name: randomUUID(), onError }), onError)
  const pool = openPool(url, READERS_MAX, err => onError({ err }, 'an idle connection to the store was lost'))
  const scanners = openPool(url, SCANNERS_MAX, err => onError({ err }, 'an idle connection for scans was lost'), {
    statementMsMax: SCAN_MS_MAX,
  })
  return new PostgresStore(new PostgresDatabase({ writer, pool, scanners, url }), pool)
}

async function prepare(url: string): Promise<void> {
  try {
    // A migration has no time limit here.
    const client = await openClient(url, () => {}, { answerMsMax: 0 })
    await answerTo(
      client,
      url,
      shareStore(client).then(() => migrate(client)),
    ).finally(() => end(client))
  } catch (cause) {
    throw new Error(`cannot open ${withoutPassword(url)}: ${(cause as Error).message}`, { cause })
  }
}

class PostgresDatabase implements Database {
  readonly writer: BatchQueue
  readonly scansAtOnce = SCANNERS_MAX
  readonly #pool: Pool
  readonly #scanners: Pool
  readonly #url: string
  #closing: Promise<void> | undefined

  constructor(parts: { writer: BatchQueue; pool: Pool; scanners: Pool; url: string }) {
    this.writer = parts.writer
    this.#pool = parts.pool
    this.#scanners = parts.scanners
    this.#url = parts.url
  }

  read(queries: Query[]): Promise<Row[][]> {
    return this.#in(this.#pool, client => readAll(client, queries))
  }

  /** Executes one statement that may write, outside the writer's batches. */
  async execute(query: Query): Promise<Row[]> {
    const [rows] = await this.#in(this.#pool, client => readAll(client, [query]))
    return rows as Row[]
  }

  scan(queries: Query[], signal?: AbortSignal): Promise<Row[][]> {
    return this.#in(this.#scanners, async client => {
      const cancel = () =>
        void rowsOf(this.#pool, 'SELECT pg_cancel_backend($1)', [backendOf(client) ?? 0]).catch(() => {})
      signal?.addEventListener('abort', cancel, { once: true })
      try {
        const rows = await readAll(client, queries)
        // The cancellation may arrive later than the answer: it must not hit the next scan of the connection.
        signal?.throwIfAborted()
        return rows
      } finally {
        signal?.removeEventListener('abort', cancel)
      }
    })
  }

  async #in(pool: Pool, work: (client: PoolClient) => Promise<Row[][]>): Promise<Row[][]> {
    try {
      const client = await pool.connect()
      try {
        // Behind a pooler a session may have got another connection, with the tables of another schema.
        const own = refuseLostConnection(client).then(() => work(client))
        const rows = await answerTo(client, this.#url, own)
        client.release()
        return rows
      } catch (error) {
        client.release(error as Error)
        throw error
      }
    } catch (cause) {
      if (isUnavailable(cause)) throw new EngineError('unavailable', 'The store is not available.', { cause })
      throw cause
    }
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      await this.writer.stop()
      await this.writer.close()
      await Promise.all([end(this.#pool), end(this.#scanners)])
    })()
    return this.#closing
  }
}

/** Returns the rows of all queries, seen at one moment. */
async function readAll(client: PoolClient, queries: Query[]): Promise<Row[][]> {
  const rows: Row[][] = []
  if (queries.length > 1) await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  for (const { sql, params } of queries) rows.push(await rowsOf(client, numbered(sql), params))
  if (queries.length > 1) await client.query('COMMIT')
  return rows
}
