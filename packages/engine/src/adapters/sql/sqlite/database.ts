// The database of a SQLite store: one connection writes, one reads, and both take requests in batches.

import type { BatchQueue } from '../batches/batch-queue.ts'
import { readRequest } from '../batches/requests.ts'
import type { Query, Row } from '../description/values.ts'
import type { Database } from '../store/database.ts'

export class SqliteDatabase implements Database {
  readonly writer: BatchQueue
  readonly #reader: BatchQueue
  readonly #release: () => void
  #closing: Promise<void> | undefined

  /** `release` releases the file, once everything is closed. */
  constructor(options: { writer: BatchQueue; reader: BatchQueue; release: () => void }) {
    this.writer = options.writer
    this.#reader = options.reader
    this.#release = options.release
  }

  read(queries: Query[]): Promise<Row[][]> {
    return this.#reader.submit(readRequest(queries), { refusable: true })
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      await Promise.all([this.#reader.stop(), this.writer.stop()])
      // The reader first: the writer's last checkpoint then has the file to itself.
      await this.#reader.close()
      await this.writer.close()
      this.#release()
    })()
    return this.#closing
  }
}
