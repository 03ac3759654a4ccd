// Opens a store on PostgreSQL: one session writes, a few read. Called by compose/backends for `postgres://` addresses.

import { randomUUID } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { EngineError } from '../../../domain/model/errors.ts'
import { withoutPassword } from '../../../domain/text/service-url.ts'
import { BatchQueue } from '../batches/batch-queue.ts'
import type { Query, Row } from '../description/values.ts'
import type { Database } from '../store/database.ts'
import { SqlStore } from '../store/sql-store.ts'
import { end, openPool, openSession, rowsOf } from './client.ts'
import { isUnavailable } from './failures.ts'
import { answerTo } from './lost-answer.ts'
import { migrate } from './migrations.ts'
import { numbered } from './placeholders.ts'
import { Writer } from './writer.ts'

/** Most sessions for the reads of one engine. */
const READERS_MAX = 4

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`; `?options=-csearch_path%3Dname` picks a schema. */
  url: string
  log?: { error(details: object, message: string): void }
}

export class PostgresStore extends SqlStore {
  readonly #pool: Pool

  constructor(database: Database, pool: Pool) {
    super(database)
    this.#pool = pool
  }

  /** Epoch ms by the server's clock, which all engines on the store use. */
  async serverTime(): Promise<number> {
    const [[now]] = (await rowsOf(this.#pool, 'SELECT extract(epoch FROM clock_timestamp()) * 1000')) as [[number]]
    return Math.floor(now)
  }
}

/** Brings the schema up to date. Rejects if the server cannot be reached, and names it without its password. */
export async function openPostgresStore({ url, log }: PostgresStoreOptions): Promise<PostgresStore> {
  const onError = (details: object, message: string) => log?.error(details, message)
  await prepare(url)
  const writer = new BatchQueue(new Writer({ url, name: randomUUID(), onError }), onError)
  const pool = openPool(url, READERS_MAX, err => onError({ err }, 'an idle session of the store was lost'))
  return new PostgresStore(new PostgresDatabase(writer, pool, url), pool)
}

async function prepare(url: string): Promise<void> {
  try {
    // A migration has no time limit here.
    const session = await openSession(url, () => {}, { answerMsMax: 0 })
    await answerTo(session, url, migrate(session)).finally(() => end(session))
  } catch (cause) {
    throw new Error(`cannot open ${withoutPassword(url)}: ${(cause as Error).message}`, { cause })
  }
}

class PostgresDatabase implements Database {
  readonly writer: BatchQueue
  readonly #pool: Pool
  readonly #url: string
  #closing: Promise<void> | undefined

  constructor(writer: BatchQueue, pool: Pool, url: string) {
    this.writer = writer
    this.#pool = pool
    this.#url = url
  }

  async read(queries: Query[]): Promise<Row[][]> {
    try {
      const session = await this.#pool.connect()
      try {
        const rows = await answerTo(session, this.#url, readAll(session, queries))
        session.release()
        return rows
      } catch (error) {
        session.release(error as Error)
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
      await end(this.#pool)
    })()
    return this.#closing
  }
}

/** Rows of all queries, seen at one moment. */
async function readAll(session: PoolClient, queries: Query[]): Promise<Row[][]> {
  const rows: Row[][] = []
  if (queries.length > 1) await session.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  for (const { sql, params } of queries) rows.push(await rowsOf(session, numbered(sql), params))
  if (queries.length > 1) await session.query('COMMIT')
  return rows
}
