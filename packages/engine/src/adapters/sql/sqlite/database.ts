// The database of a SQLite store: one connection writes, one reads, one scans, and all take requests in batches.

import { EngineError } from '../../../domain/model/errors.ts'
import type { BatchQueue } from '../batches/batch-queue.ts'
import { readRequest } from '../batches/requests.ts'
import type { Query, Row } from '../description/values.ts'
import type { Database } from '../store/database.ts'

export interface SqliteChannels {
  writer: BatchQueue
  reader: BatchQueue
  /** Opens the reader of scans, at the first scan: many engines never have one. */
  openScanner: () => Promise<BatchQueue>
  /** Releases the file, once everything is closed. */
  release: () => void
}

export class SqliteDatabase implements Database {
  readonly writer: BatchQueue
  readonly scansAtOnce = 1
  readonly #reader: BatchQueue
  readonly #openScanner: () => Promise<BatchQueue>
  readonly #release: () => void
  #scanner: Promise<BatchQueue> | undefined
  #closing: Promise<void> | undefined

  constructor({ writer, reader, openScanner, release }: SqliteChannels) {
    this.writer = writer
    this.#reader = reader
    this.#openScanner = openScanner
    this.#release = release
  }

  read(queries: Query[]): Promise<Row[][]> {
    return this.#reader.submit(readRequest(queries), { refusable: true })
  }

  async scan(queries: Query[]): Promise<Row[][]> {
    if (this.#closing) throw new EngineError('unavailable', 'The store is closed.')
    this.#scanner ??= this.#openScanner().catch(cause => {
      // The next scan tries again.
      this.#scanner = undefined
      throw new EngineError('unavailable', 'The store cannot be searched.', { cause })
    })
    return (await this.#scanner).submit(readRequest(queries), { refusable: true })
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      await Promise.all([this.#reader.stop(), this.#closeScanner(), this.writer.stop()])
      // The readers first: the writer's last checkpoint then has the file to itself. After a failure of the writer, the order is
      // reversed: the last connection that can write would empty the log into the file, and remove any file with the log's name.
      const inOrder = this.writer.failure ? [this.writer, this.#reader] : [this.#reader, this.writer]
      for (const queue of inOrder) await queue.close()
      this.#release()
    })()
    return this.#closing
  }

  async #closeScanner(): Promise<void> {
    const scanner = await this.#scanner?.catch(() => undefined)
    await scanner?.stop()
    await scanner?.close()
  }
}
