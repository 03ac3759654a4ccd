// Entry of a worker thread that owns one connection: the writer's or the reader's. Started by worker-host.ts, which
// posts what to do and rings the bell.

import { type MessagePort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { Server } from '../batches/channel.ts'
import type { BatchAnswer, Request } from '../batches/requests.ts'
import { Connection } from './connection.ts'
import { migrate } from './migrations.ts'
import { loadSqlite } from './module.ts'
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

export interface ThreadOptions {
  role: 'writer' | 'reader'
  file: string
  port: MessagePort
  /** Counted up after every post. */
  bell: Int32Array
}

/** Opens the database, runs a batch, or closes the database and ends the thread. */
export type ThreadOrder = 'open' | Request[] | 'close'

export type ThreadMessage =
  | { kind: 'opened' }
  | { kind: 'answered'; answer: BatchAnswer }
  /** The order could not be carried out at all; the thread ends. */
  | { kind: 'failed'; reason: string }
  | { kind: 'closed' }

const { role, file, port, bell } = workerData as ThreadOptions

function say(message: ThreadMessage): void {
  port.postMessage(message)
}

/** Sleeps until there is an order. */
function nextOrder(): ThreadOrder {
  for (;;) {
    // Read before looking: a post after the look has rung by then, and the wait ends at once.
    const rings = Atomics.load(bell, 0)
    const received = receiveMessageOnPort(port) as { message: ThreadOrder } | undefined
    if (received) return received.message
    Atomics.wait(bell, 0, rings)
  }
}

async function open(): Promise<Server> {
  const connection = await Connection.open(file, { readOnly: role === 'reader' })
  if (role === 'reader') return new Reader(connection)
  migrate(connection)
  return new Writer(connection)
}

async function serve(): Promise<void> {
  // Loaded before the first order, while the other thread starts.
  await loadSqlite()
  let server: Server | undefined
  for (let order = nextOrder(); order !== 'close'; order = nextOrder()) {
    if (order === 'open') {
      server = await open()
      say({ kind: 'opened' })
    } else if (server) say({ kind: 'answered', answer: server.run(order) })
    else throw new Error('the database is not open')
  }
  server?.close()
  say({ kind: 'closed' })
}

try {
  await serve()
} catch (error) {
  say({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) })
} finally {
  port.close()
}
