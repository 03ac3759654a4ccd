// Opens a store on a SQLite file, with threads for writing, reading and scanning, or in memory in the calling thread. Called
// by compose/backends, the testing kit and the simulator.

import { BatchQueue } from '../batches/batch-queue.ts'
import { InlineChannel } from '../batches/channel.ts'
import { LoneCommits } from '../batches/lone-commits.ts'
import { SqlStore } from '../store/sql-store.ts'
import { type FileLock, lockFile } from './claim.ts'
import { Connection } from './connection.ts'
import { SqliteDatabase } from './database.ts'
import { refuseForeignLog } from './files/generation.ts'
import { createDatabaseFile, databasePath, openToOthers, refuseLinks } from './files/store-files.ts'
import { migrate } from './migrations.ts'
import { timesOf } from './move-times.ts'
import { Reader } from './reader.ts'
import { type OpenedFiles, StoreGuard } from './store-guard.ts'
import { ThreadChannel } from './worker-host.ts'
import { Writer } from './writer.ts'

export interface SqliteStoreOptions {
  /** Path of the database file, or `:memory:`. */
  file: string
  log?: StoreLog
}

/** Where errors are logged; a pino logger fits. */
interface StoreLog {
  error(details: object, message: string): void
  warn?(details: object, message: string): void
}

export async function openSqliteStore({ file, log }: SqliteStoreOptions): Promise<SqlStore> {
  const onError = (details: object, message: string) => log?.error(details, message)
  if (file === ':memory:') return openInMemory(onError)
  const path = databasePath(file)
  const lock = await lockFile(path)
  try {
    refuseLinks(path)
    refuseForeignLog(path)
    createDatabaseFile(path)
    const store = await openOnFile(path, lock, onError)
    const advice = openToOthers(path)
    if (advice !== undefined) log?.warn?.({ file: path }, advice)
    return store
  } catch (cause) {
    lock.release()
    throw new Error(`cannot open ${path}: ${(cause as Error).message}`, { cause })
  }
}

type OnError = (details: object, message: string) => void

/** Time between two looks at the files of an idle store. */
const LOOK_EVERY_MS = 1000

async function openOnFile(file: string, lock: FileLock, onError: OnError): Promise<SqlStore> {
  // Both threads start at once. The reader opens the database after the writer has claimed and created it.
  const [writing, reading] = [new ThreadChannel('writer', file), new ThreadChannel('reader', file)] as const
  let opened: OpenedFiles
  try {
    opened = (await writing.open({ lock: lock.identity })) as OpenedFiles
    await reading.open({})
  } catch (error) {
    await Promise.all([writing.close(), reading.close()])
    throw error
  }
  const writer = new BatchQueue(new LoneCommits({ thread: writing, open: () => openHere(opened) }), onError)
  const reader = new BatchQueue(reading, onError)
  const openScanner = async () => {
    if (writer.failure) throw writer.failure
    const thread = new ThreadChannel('scanner', file)
    await thread.open({})
    return new BatchQueue(thread, onError)
  }
  const stopLooking = lookAtFiles(opened, writer)
  const release = () => {
    stopLooking()
    lock.release()
  }
  return new SqlStore(new SqliteDatabase({ writer, reader, openScanner, release }), timesOf(writer))
}

/** Opens a writer in the calling thread, which waits neither for locks nor for the log to be written back. */
async function openHere(opened: OpenedFiles): Promise<Writer> {
  if (!new StoreGuard(opened).areFilesThere()) throw new Error('the files are not the opened ones')
  const connection = await Connection.open(opened.file, { readOnly: false })
  connection.exec('PRAGMA busy_timeout = 0; PRAGMA wal_autocheckpoint = 0')
  return new Writer(connection, { opened, writesLogBack: false })
}

/** Makes the writer check an idle store when its files are not the opened ones; returns a function that ends it. */
function lookAtFiles(opened: OpenedFiles, writer: BatchQueue): () => void {
  const guard = new StoreGuard(opened)
  const timer = setInterval(() => {
    if (!guard.hasNews()) return
    writer.submit({ type: 'probe' }, { refusable: false }).catch(() => {})
  }, LOOK_EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** One connection for everything: a database in memory belongs to its connection. */
async function openInMemory(onError: OnError): Promise<SqlStore> {
  const connection = await Connection.open(':memory:', { readOnly: false })
  migrate(connection)
  const writer = new BatchQueue(new InlineChannel(new Writer(connection)), onError)
  const reading = new Reader(connection)
  const shared = { run: reading.run.bind(reading), close: () => {} }
  const reader = new BatchQueue(new InlineChannel(shared), onError)
  return new SqlStore(
    new SqliteDatabase({ writer, reader, openScanner: async () => reader, release: () => {} }),
    timesOf(writer),
  )
}
