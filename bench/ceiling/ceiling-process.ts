// A process that replaces the engine and only transports: it decides and stores nothing. It calls the runner with undici and the
// settings of the engine's HTTP transport, or over the runner's socket; the load reaches it over node:http. ceiling.ts starts it.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { Api } from '../load/api.ts'
import { Loop } from '../load/loop.ts'
import { type Percentiles, percentiles } from '../measure/latency.ts'
import { corked, frameOf } from '../rig/connect-runner.ts'

/** The address of the runner's server. Without one, calls use the runner's socket. */
interface Called {
  origin: string | undefined
}

export type CeilingRequest = Called &
  (
    | { kind: 'echo'; inFlight: number; seconds: number; body: string }
    /** Each POST makes one invoke per entry of `afters`, in sequence. The body is `before`, the run's number and the entry. */
    | { kind: 'relay'; before: string; afters: string[] }
  )

export type CeilingMessage =
  | { kind: 'listening'; port: number }
  | { kind: 'echoed'; calls: number; seconds: number; latencyMs: Percentiles }
  | { kind: 'relaying' }

type Call = (type: 'invoke' | 'echo', payload: string) => Promise<unknown>

const HEADERS = { 'x-engine-protocol': '1', 'x-engine-signature': 'v0' }
const ACCEPTED = '{"runId":"run"}'

const server = createServer()
let callSocket: Call = () => Promise.reject(new Error('no runner is connected'))

// A minimal Connect server: it knows just enough frames to drive the bench's runner.
new WebSocketServer({ server, path: '/connect', perMessageDeflate: false }).on('connection', socket => {
  const write = corked(socket)
  const answered = new Map<string, (text: string) => void>()
  let lastId = 0
  callSocket = (type, payload) =>
    new Promise(resolve => {
      const id = String(++lastId)
      answered.set(id, resolve)
      write(frameOf(type, id, payload))
    })
  socket.on('message', data => {
    const text = String(data)
    const { type, id, payload } = JSON.parse(text) as { type: string; id: string; payload: { seq?: number } }
    if (type === 'runner.register') return write(frameOf('runner.registered', id, '{}'))
    // Checkpoints before the answer are acknowledged at once.
    if (type === 'invoke.checkpoint') return write(frameOf('checkpoint.ack', id, `{"seq":${payload.seq},"steps":[]}`))
    answered.get(id)?.(text)
    answered.delete(id)
  })
})

process.on('message', async (request: CeilingRequest) => {
  const api = request.origin === undefined ? undefined : new Api(request.origin, { headers: HEADERS, connections: 512 })
  const call: Call = (type, payload) =>
    api ? api.call('POST', `/${type}`, Buffer.from(payload)) : callSocket(type, payload)
  if (request.kind === 'echo') {
    const { inFlight, seconds, body } = request
    const loop = new Loop(inFlight, async () => {
      const from = performance.now()
      await call('echo', body)
      return performance.now() - from
    })
    const window = await loop.measure(seconds)
    await loop.stop()
    await api?.close()
    const latencyMs = percentiles(window.latenciesMs)
    return tellParent({ kind: 'echoed', calls: window.runs, seconds: window.seconds, latencyMs })
  }
  const passes = async (n: number) => {
    for (const after of request.afters) await call('invoke', request.before + n + after)
  }
  server.on('request', (posted, response) => {
    let body = ''
    posted.on('data', chunk => {
      body += chunk
    })
    posted.on('end', () => {
      void passes((JSON.parse(body) as { data: { n: number } }).data.n)
      response.writeHead(202, { 'content-type': 'application/json', 'content-length': ACCEPTED.length })
      response.end(ACCEPTED)
    })
  })
  tellParent({ kind: 'relaying' })
})
process.on('disconnect', () => process.exit(0))

function tellParent(message: CeilingMessage): void {
  process.send?.(message)
}

server.keepAliveTimeout = 0
server.listen(0, '127.0.0.1', () => tellParent({ kind: 'listening', port: (server.address() as AddressInfo).port }))
