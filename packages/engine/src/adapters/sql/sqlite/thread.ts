// The entry of a worker thread that owns one connection: the writer's or a reader's. Started by worker-host.ts, which posts
// orders and wakes the thread through a shared counter.

import { type MessagePort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { Server } from '../batches/channel.ts'
import type { BatchAnswer, Request } from '../batches/requests.ts'
import { Connection } from './connection.ts'
import { loadSqlite } from './module.ts'
import { Reader } from './reader.ts'
import type { OpenedFiles } from './store-guard.ts'

export type ThreadRole = 'writer' | 'reader' | 'scanner'

export interface ThreadOptions {
  role: ThreadRole
  file: string
  port: MessagePort
  /** Counts the posted orders; the thread sleeps until it rises. */
  orders: Int32Array
}

/** Opens the database, runs a batch, or closes the database and ends the thread; `abandon` closes a broken database. */
export type ThreadOrder = OpenOrder | Request[] | End
export interface OpenOrder {
  /** For the writer, which claims the database for its engine: the identity of the lock file. */
  lock?: string
}
type End = 'close' | 'abandon'

export type ThreadMessage =
  | { kind: 'opened'; opened: OpenedFiles | undefined }
  | { kind: 'answered'; answer: BatchAnswer }
  /** The thread could not execute the order, and ends. */
  | { kind: 'failed'; reason: string }
  | { kind: 'closed' }

const { role, file, port, orders } = workerData as ThreadOptions

function post(message: ThreadMessage): void {
  port.postMessage(message)
}

/** Returns the next order; sleeps until there is one. */
function nextOrder(): ThreadOrder {
  for (;;) {
    // Read before the look for a message: if an order is posted after the look, the counter differs and the wait ends at once.
    const counted = Atomics.load(orders, 0)
    const received = receiveMessageOnPort(port) as { message: ThreadOrder } | undefined
    if (received) return received.message
    Atomics.wait(orders, 0, counted)
  }
}

/** A reader starts without the writer's code, which is most of it. */
const loadWriter = () => import('./writer.ts')

async function open({ lock }: OpenOrder): Promise<{ server: Server; opened?: OpenedFiles }> {
  const connection = await Connection.open(file, { readOnly: lock === undefined })
  if (lock === undefined) return { server: new Reader(connection) }
  const { openWriter } = await loadWriter()
  return openWriter(connection, { file, lock })
}

async function serve(): Promise<void> {
  // Before the first order, while the other thread starts.
  await Promise.all([loadSqlite(), role === 'writer' && loadWriter()])
  let server: Server | undefined
  let order = nextOrder()
  for (; order !== 'close' && order !== 'abandon'; order = nextOrder()) {
    if (!Array.isArray(order)) {
      const opening = await open(order)
      server = opening.server
      post({ kind: 'opened', opened: opening.opened })
    } else if (server) post({ kind: 'answered', answer: server.run(order) })
    else throw new Error('the database is not open')
  }
  server?.close(order === 'abandon')
  post({ kind: 'closed' })
}

try {
  await serve()
} catch (error) {
  post({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) })
} finally {
  port.close()
}
