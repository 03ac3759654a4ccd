// A process in the engine's place that only transports: it decides and stores nothing. It calls the runner with undici
// Pool.dispatch and the settings of the engine's HTTP transport, or over the runner's socket; the load reaches it over
// node:http. ceiling.ts starts it.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Dispatcher, Pool } from 'undici'
import { type Percentiles, percentiles } from '../measure/latency.ts'
import { CeilingSocket } from './ceiling-socket.ts'

export interface EchoRequest {
  kind: 'echo'
  /** Address of the runner's server; absent: calls go over the runner's socket. */
  origin?: string
  inFlight: number
  seconds: number
  body: string
}

/**
 * Each POST makes one invoke per entry of `afters`, in sequence. The body is `before`, the run's number and the
 * entry.
 */
export interface RelayRequest {
  kind: 'relay'
  origin?: string
  before: string
  afters: string[]
}

export interface Echoed {
  kind: 'echoed'
  calls: number
  seconds: number
  latencyMs: Percentiles
}

export type CeilingMessage = Echoed | { kind: 'listening'; port: number } | { kind: 'relaying' }

const HEADERS = ['content-type', 'application/json', 'x-engine-protocol', '1', 'x-engine-signature', 'v0']
const ACCEPTED = '{"runId":"run"}'

const server = createServer()
const socket = new CeilingSocket(server)

process.on('message', (request: EchoRequest | RelayRequest) => {
  if (request.kind === 'echo') void echo(request).then(tellParent)
  else relay(request)
})
process.on('disconnect', () => process.exit(0))

function tellParent(message: CeilingMessage): void {
  process.send?.(message)
}

/** Keeps `inFlight` echo calls going for this long. */
async function echo({ origin, inFlight, seconds, body }: EchoRequest): Promise<Echoed> {
  const pool = origin === undefined ? undefined : openPool(origin)
  const encoded = Buffer.from(body)
  const latencies: number[] = []
  const startedAt = performance.now()
  const endAt = startedAt + seconds * 1000
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      for (let from = performance.now(); from < endAt; ) {
        await (pool ? call(pool, '/echo', encoded) : socket.call('echo', body))
        const now = performance.now()
        latencies.push(now - from)
        from = now
      }
    }),
  )
  const spent = (performance.now() - startedAt) / 1000
  await pool?.destroy()
  return { kind: 'echoed', calls: latencies.length, seconds: spent, latencyMs: percentiles(latencies) }
}

function relay({ origin, before, afters }: RelayRequest): void {
  const pool = origin === undefined ? undefined : openPool(origin)
  const passes = async (n: number) => {
    for (const after of afters) {
      const body = before + n + after
      await (pool ? call(pool, '/invoke', Buffer.from(body)) : socket.call('invoke', body))
    }
  }
  server.on('request', (request, response) => {
    let body = ''
    request.on('data', chunk => {
      body += chunk
    })
    request.on('end', () => {
      void passes((JSON.parse(body) as { data: { n: number } }).data.n)
      response.writeHead(202, { 'content-type': 'application/json', 'content-length': ACCEPTED.length })
      response.end(ACCEPTED)
    })
  })
  tellParent({ kind: 'relaying' })
}

server.keepAliveTimeout = 0
server.listen(0, '127.0.0.1', () => {
  tellParent({ kind: 'listening', port: (server.address() as AddressInfo).port })
})

function openPool(origin: string): Pool {
  return new Pool(origin, { connections: 512, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 })
}

/** One POST; reads the answer to the end and decodes it. */
function call(pool: Pool, path: string, body: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const handler: Dispatcher.DispatchHandler = {
      onConnect: () => {},
      onHeaders: () => true,
      onData: chunk => {
        text += chunk.toString()
        return true
      },
      onComplete: () => resolve(text),
      onError: reject,
    }
    pool.dispatch({ method: 'POST', path, headers: HEADERS, body }, handler)
  })
}
