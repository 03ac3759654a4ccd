// Opens a store on a SQLite file, with a thread for writing and one for reading, or in memory in the calling thread.
// Called by compose, the testing kit and the simulator.

import { BatchQueue } from '../batches/batch-queue.ts'
import { InlineChannel } from '../batches/channel.ts'
import { SqlStore } from '../store/sql-store.ts'
import { Connection } from './connection.ts'
import { SqliteDriver } from './driver.ts'
import { databasePath, type FileLock, lockFile } from './lock-file.ts'
import { migrate } from './migrations.ts'
import { Reader } from './reader.ts'
import { ThreadChannel } from './worker-host.ts'
import { Writer } from './writer.ts'

export interface SqliteStoreOptions {
  /** Path of the database file, or `:memory:`. */
  file: string
  log?: StoreLog
}

/** Where trouble goes; a pino logger fits. */
export interface StoreLog {
  error(details: object, message: string): void
}

export class SqliteStore extends SqlStore {
  readonly #writer: BatchQueue

  constructor(driver: SqliteDriver, writer: BatchQueue) {
    super(driver, writer)
    this.#writer = writer
  }

  /** Writes that are not durable yet: admission control looks at it. */
  get pendingUnits(): number {
    return this.#writer.pending
  }
}

export async function openSqliteStore({ file, log }: SqliteStoreOptions): Promise<SqliteStore> {
  const trouble = (details: object, message: string) => log?.error(details, message)
  if (file === ':memory:') return openInMemory(trouble)
  const path = databasePath(file)
  const lock = await lockFile(path)
  try {
    return await openOnFile(path, lock, trouble)
  } catch (cause) {
    lock.release()
    throw new Error(`cannot open ${path}: ${(cause as Error).message}`, { cause })
  }
}

type Trouble = (details: object, message: string) => void

async function openOnFile(file: string, lock: FileLock, trouble: Trouble): Promise<SqliteStore> {
  // Both threads start at once; the reader opens what the writer has made.
  const threads = [new ThreadChannel('writer', file), new ThreadChannel('reader', file)] as const
  try {
    for (const thread of threads) await thread.open()
  } catch (error) {
    await Promise.all(threads.map(thread => thread.close()))
    throw error
  }
  const [writer, reader] = threads.map(thread => new BatchQueue(thread, trouble)) as [BatchQueue, BatchQueue]
  return new SqliteStore(new SqliteDriver({ writer, reader, release: () => lock.release() }), writer)
}

/** One connection for both: a database in memory is its connection's own. */
async function openInMemory(trouble: Trouble): Promise<SqliteStore> {
  const connection = await Connection.open(':memory:', { readOnly: false })
  migrate(connection)
  const writer = new BatchQueue(new InlineChannel(new Writer(connection)), trouble)
  const reading = new Reader(connection)
  const shared = { run: reading.run.bind(reading), close: () => {} }
  const reader = new BatchQueue(new InlineChannel(shared), trouble)
  return new SqliteStore(new SqliteDriver({ writer, reader, release: () => {} }), writer)
}
