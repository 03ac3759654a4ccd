// The runner of the benchmarks, in a process of its own: a plain node:http server, or a socket to the engine, that
// speaks the wire protocol. It reports finished and parked runs to its parent, in one message per tick. runner.ts
// starts it.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ConnectRunner } from './connect-runner.ts'
import { Reports } from './reports.ts'
import { answer } from './workflows.ts'

/** Messages from the parent to the runner. */
export type RunnerRequest =
  | { kind: 'count' }
  | { kind: 'connect'; url: string; registration: object; checkpoints: boolean }
  | { kind: 'disconnect' }

let passes = 0
let failed = 0
const reports = new Reports()

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', chunk => chunks.push(chunk))
  request.on('end', () => respond(request, response, chunks))
})

function respond(request: IncomingMessage, response: ServerResponse, chunks: Buffer[]): void {
  const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
  if (request.url === '/echo') send(response, 200, body)
  else invoke(response, body.toString())
}

function invoke(response: ServerResponse, text: string): void {
  passes++
  try {
    const request = JSON.parse(text)
    const { status, body, left, afterMs } = answer(request)
    const respond = () => {
      send(response, status, body)
      if (left) reports.left(left, request.event.data.n)
    }
    if (afterMs === undefined) respond()
    else setTimeout(respond, afterMs)
  } catch (error) {
    // A 4xx fails the run at once, and a failed run fails the bench.
    failed++
    send(response, 400, JSON.stringify({ error: String(error) }))
  }
}

function send(response: ServerResponse, status: number, body: string | Buffer): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
}

/** One socket per engine. */
const sockets: ConnectRunner[] = []

async function connect({ url, registration, checkpoints }: RunnerRequest & { kind: 'connect' }) {
  const socket = await ConnectRunner.open({
    url,
    registration,
    checkpoints,
    onPass: () => {
      passes++
    },
    onFailed: () => {
      failed++
    },
    onLeft: (left, invoke) => reports.left(left, invoke.event.data.n),
  })
  sockets.push(socket)
}

process.on('message', (request: RunnerRequest) => {
  if (request.kind === 'count') reports.send({ kind: 'counted', passes, failed })
  else if (request.kind === 'disconnect') for (const socket of sockets.splice(0)) socket.close()
  else {
    connect(request).then(
      () => reports.send({ kind: 'connected' }),
      error => reports.send({ kind: 'connected', problem: String(error) }),
    )
  }
})
process.on('disconnect', () => process.exit(0))

// Connections stay open as long as the bench: an idle timeout would be measured as a lost invoke.
server.keepAliveTimeout = 0
server.requestTimeout = 0
server.headersTimeout = 0
server.listen(0, '127.0.0.1', () => {
  reports.send({ kind: 'listening', port: (server.address() as AddressInfo).port })
})
