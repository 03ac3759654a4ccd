// The runner of the benchmarks, in its own process: a plain node:http server, or a socket to the engine, that speaks the wire
// protocol without the SDK. runner.ts starts it.

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connectRunner } from './connect-runner.ts'
import { answerInvoke, counts, obeyParent, tellParent } from './runner-reports.ts'
import { BENCH_APP, type Invoke, SHAPES } from './workflows.ts'

const REGISTRATION = {
  app: BENCH_APP,
  runner: 'bench-runner',
  protocolVersion: 1,
  workflows: SHAPES.map(({ name }) => ({ name })),
}
/** Well below the 90 s after which a runner is stale. */
const HEARTBEAT_MS = 20_000

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', chunk => chunks.push(chunk))
  request.on('end', () => {
    const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
    if (request.url === '/echo') return send(response, 200, body)
    counts.passes++
    answerInvoke(JSON.parse(body.toString()) as Invoke, (status, text) => send(response, status, text))
  })
})

function send(response: ServerResponse, status: number, body: string | Buffer): void {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

async function register(engineUrl: string, headers: Readonly<Record<string, string>>): Promise<void> {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/invoke`
  const response = await fetch(`${engineUrl}/register`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ ...REGISTRATION, url }),
  })
  if (!response.ok) throw new Error(`register: ${response.status} ${await response.text()}`)
}

obeyParent(async (engineUrl, { over, apiKey }) => {
  const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }
  if (over !== 'http') {
    const url = `${engineUrl.replace('http', 'ws')}/connect`
    return connectRunner({ url, headers, registration: REGISTRATION, hasCheckpoints: over === 'checkpoints' })
  }
  await register(engineUrl, headers)
  // A heartbeat that fails while an engine restarts is repeated soon enough.
  const heartbeat = setInterval(() => register(engineUrl, headers).catch(() => {}), HEARTBEAT_MS)
  return () => clearInterval(heartbeat)
})

// Connections stay open for the whole bench: an idle timeout would be measured as a lost invoke.
Object.assign(server, { keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 })
server.listen(0, '127.0.0.1', () => tellParent({ kind: 'listening', port: (server.address() as AddressInfo).port }))
