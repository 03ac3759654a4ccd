// Opens a store on PostgreSQL: one session writes, a few read. Called by compose for `postgres://` addresses.

import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { EngineError } from '../../../domain/errors.ts'
import { withoutPassword } from '../../../domain/service-url.ts'
import { BatchQueue } from '../batches/batch-queue.ts'
import { BatchedDriver } from '../batches/batched-driver.ts'
import type { Query, Row } from '../operations.ts'
import { SqlStore } from '../sql-store.ts'
import { openPool, openSession, rowsOf } from './client.ts'
import { isUnavailable } from './failures.ts'
import { migrate } from './migrations.ts'
import { numbered } from './placeholders.ts'
import { Writer } from './writer.ts'

/** Sessions for reads of one engine. */
const READERS_MAX = 4

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`; `?options=-csearch_path%3Dname` picks a schema. */
  url: string
  log?: { error(details: object, message: string): void }
}

export class PostgresStore extends SqlStore {
  readonly #pool: Pool

  constructor(driver: BatchedDriver, writer: BatchQueue, pool: Pool) {
    super(driver, writer)
    this.#pool = pool
  }

  /** Epoch ms by the server's clock, which all engines go by. */
  async serverTime(): Promise<number> {
    const [[now]] = (await rowsOf(this.#pool, 'SELECT extract(epoch FROM clock_timestamp()) * 1000')) as [
      [number],
    ]
    return Math.floor(now)
  }
}

/** Brings the schema up to date. Rejects when the server cannot be reached, naming it without its password. */
export async function openPostgresStore({ url, log }: PostgresStoreOptions): Promise<PostgresStore> {
  const trouble = (details: object, message: string) => log?.error(details, message)
  await prepare(url)
  const writer = new BatchQueue(new Writer({ url, name: randomUUID(), onTrouble: trouble }), trouble)
  const pool = openPool(url, READERS_MAX, err => trouble({ err }, 'an idle session of the store was lost'))
  return new PostgresStore(new PostgresDriver(writer, pool), writer, pool)
}

async function prepare(url: string): Promise<void> {
  try {
    const session = await openSession(url, () => {})
    await migrate(session).finally(() => session.end())
  } catch (cause) {
    throw new Error(`cannot open ${withoutPassword(url)}: ${(cause as Error).message}`, { cause })
  }
}

class PostgresDriver extends BatchedDriver {
  readonly #queue: BatchQueue
  readonly #pool: Pool
  #closing: Promise<void> | undefined

  constructor(queue: BatchQueue, pool: Pool) {
    super(queue)
    this.#queue = queue
    this.#pool = pool
  }

  async read(queries: Query[]): Promise<Row[][]> {
    try {
      const [only, ...rest] = queries
      if (only && rest.length === 0) return [await rowsOf(this.#pool, numbered(only.sql), only.params)]
      return await this.#together(queries)
    } catch (cause) {
      if (isUnavailable(cause)) throw new EngineError('unavailable', 'The store is not available.', { cause })
      throw cause
    }
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      await this.#queue.stop()
      await this.#queue.close()
      await this.#pool.end()
    })()
    return this.#closing
  }

  /** All from one moment. */
  async #together(queries: Query[]): Promise<Row[][]> {
    const session = await this.#pool.connect()
    try {
      await session.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
      const rows: Row[][] = []
      for (const { sql, params } of queries) rows.push(await rowsOf(session, numbered(sql), params))
      await session.query('COMMIT')
      session.release()
      return rows
    } catch (error) {
      session.release(error as Error)
      throw error
    }
  }
}
