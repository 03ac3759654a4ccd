// IDLE: the cost of an engine without work and with one registered runner: CPU and, on PostgreSQL, its queries,
// counted by a proxy.

import { connect, createServer, type Server, type Socket } from 'node:net'
import { CpuMeter } from '../measure/cpu-meter.ts'
import type { Result } from '../report/report.ts'
import type { BenchOptions } from '../rig/options.ts'
import { Rig } from '../rig/rig.ts'

/** A freshly started engine polls more often. */
const SETTLE_MS = 5000
/** Long enough to contain what happens once a minute. */
const WINDOW_MS = 60_000
const MINUTE_MS = 60_000

export async function idle(options: BenchOptions): Promise<Result[]> {
  const counter = options.store === undefined ? undefined : await QueryCounter.open(options.store)
  const rig = await Rig.open(counter ? { ...options, store: counter.url } : options)
  try {
    await pause(SETTLE_MS)
    const meter = new CpuMeter(rig.pids)
    const before = counter?.queries ?? 0
    await pause(WINDOW_MS)
    const { shares } = meter.read()
    const ofEngines = shares.filter(({ process }) => process.startsWith('engine'))
    const perMinute = (count: number) => (count * MINUTE_MS) / WINDOW_MS / options.engines
    const cpuMs = 1000 * ofEngines.reduce((sum, { seconds }) => sum + seconds, 0)
    const figures = {
      'an engine a minute': {
        'cpu ms': perMinute(cpuMs),
        ...(counter ? { queries: perMinute(counter.queries - before) } : {}),
      },
    }
    const title = `${options.engines} engine(s) without work, on ${counter ? 'PostgreSQL' : 'SQLite'}`
    return [{ workload: 'IDLE', title, figures, notes: [], problems: [], profiles: [] }]
  } finally {
    await rig.close()
    counter?.close()
  }
}

/** A proxy between engines and database that counts queries: simple ones, and executions of prepared ones. */
class QueryCounter {
  queries = 0
  readonly #server: Server
  readonly url: string
  readonly #sockets = new Set<Socket>()

  private constructor(server: Server, url: string) {
    this.#server = server
    this.url = url
  }

  static async open(address: string): Promise<QueryCounter> {
    const target = new URL(address)
    const server = createServer(client => counter.#join(client, target))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const url = new URL(address)
    url.hostname = '127.0.0.1'
    url.port = String((server.address() as { port: number }).port)
    const counter = new QueryCounter(server, url.href)
    return counter
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  #join(client: Socket, target: URL): void {
    const database = connect(Number(target.port || 5432), target.hostname)
    const read = this.#reader()
    client.on('data', read)
    client.pipe(database).pipe(client)
    for (const socket of [client, database]) {
      this.#sockets.add(socket)
      socket.on('error', () => {
        client.destroy()
        database.destroy()
      })
      socket.on('close', () => this.#sockets.delete(socket))
    }
  }

  /** A message is a letter, a length that includes itself, and a body; the first message of a session has no letter. */
  #reader(): (data: Buffer) => void {
    let rest = Buffer.alloc(0)
    let isFirst = true
    return data => {
      rest = Buffer.concat([rest, data])
      for (;;) {
        const head = isFirst ? 0 : 1
        if (rest.length < head + 4) return
        const length = head + rest.readUInt32BE(head)
        if (rest.length < length) return
        const letter = isFirst ? '' : String.fromCharCode(rest[0] as number)
        if (letter === 'Q' || letter === 'E') this.queries++
        isFirst = false
        rest = rest.subarray(length)
      }
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
