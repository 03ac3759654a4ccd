// The SQL driver for SQLite: one thread writes, one reads, and both take requests in batches.

import type { BatchQueue } from '../batches/batch-queue.ts'
import { readRequest } from '../batches/requests.ts'
import { BatchedDriver } from '../store/batched-driver.ts'
import type { Query, Row } from '../tables/operations.ts'

export class SqliteDriver extends BatchedDriver {
  readonly #writer: BatchQueue
  readonly #reader: BatchQueue
  readonly #release: () => void
  #closing: Promise<void> | undefined

  /** `release` lets go of the file, once everything is closed. */
  constructor(options: { writer: BatchQueue; reader: BatchQueue; release: () => void }) {
    super(options.writer)
    this.#writer = options.writer
    this.#reader = options.reader
    this.#release = options.release
  }

  read(queries: Query[]): Promise<Row[][]> {
    return this.#reader.submit(readRequest(queries), { refusable: true })
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      await Promise.all([this.#reader.stop(), this.#writer.stop()])
      // The reader first: the writer's last checkpoint then has the file to itself.
      await this.#reader.close()
      await this.#writer.close()
      this.#release()
    })()
    return this.#closing
  }
}
