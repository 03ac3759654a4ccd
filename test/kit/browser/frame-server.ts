// A server between a browser and an engine that passes everything on and counts it. It answers `GET /stream` itself, with
// status frames of given runs at a given rate, which may be higher than an engine on a busy machine could send. Or it leaves
// the stream to the engine. Used by the tests and the bench of the console.

import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const PULSE_MS = 10
const STATUSES = ['running', 'waiting', 'running', 'queued']

export interface Request {
  /** As `GET /runs?limit=50`. */
  line: string
  /** Milliseconds since the epoch. */
  at: number
}

export interface FrameServer {
  url: string
  /** Streams that are open. */
  readonly streams: number
  /** Requests so far in order, including those from workers. */
  readonly requests: readonly Request[]
  /** Sends frames of these runs in rotation, at this rate per second; 0 stops. */
  send(runIds: readonly string[], framesPerS: number): void
  /** Sends one frame for each of these runs. */
  sendOnce(runIds: readonly string[]): void
  /** Sends these frames. */
  write(frames: readonly object[]): void
  close(): void
}

export async function openFrameServer(engineUrl: string, { leavesStream = false } = {}): Promise<FrameServer> {
  const streams = new Set<ServerResponse>()
  let runIds: readonly string[] = []
  let framesPerS = 0
  let sent = 0
  const requests: Request[] = []
  let owedFrom = performance.now()
  const write = (ids: readonly string[]) => {
    const text = ids.map(runId => frameOf(runId, ++sent)).join('')
    for (const stream of streams) stream.write(text)
  }
  const pulse = setInterval(() => {
    const now = performance.now()
    // A late timer sends the frames that are overdue.
    const count = Math.floor(((now - owedFrom) * framesPerS) / 1000)
    if (count === 0) return
    owedFrom = now
    write(Array.from({ length: count }, (_, i) => runIds[(sent + i) % runIds.length] as string))
  }, PULSE_MS)
  const server = createServer((incoming, response) => {
    requests.push({ line: `${incoming.method} ${incoming.url}`, at: Date.now() })
    const isStream = incoming.url?.startsWith('/stream?')
    if (isStream) {
      streams.add(response)
      response.on('close', () => streams.delete(response))
    }
    if (leavesStream || !isStream) pass(engineUrl, incoming, response)
    else
      response
        .writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
        .write('retry: 1\n\n')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get streams() {
      return streams.size
    },
    requests,
    send: (ids, perS) => {
      runIds = ids
      framesPerS = perS
      owedFrom = performance.now()
    },
    sendOnce: write,
    write: frames => {
      const text = frames.map(frame => `data: ${JSON.stringify(frame)}\n\n`).join('')
      for (const stream of streams) stream.write(text)
    },
    close: () => {
      clearInterval(pulse)
      server.closeAllConnections()
      server.close()
    },
  }
}

function frameOf(runId: string, seq: number): string {
  const status = STATUSES[Math.floor(seq / 200) % STATUSES.length]
  const frame = { kind: 'run_status', runId, seq, status, workflow: 'load', app: 'load', attempt: 1, ts: now() }
  return `event: run_status\ndata: ${JSON.stringify({ ...frame, currentStepName: `step ${seq % 7}` })}\n\n`
}

const now = () => new Date().toISOString()

function pass(engineUrl: string, incoming: IncomingMessage, response: ServerResponse): void {
  const { method, url, headers } = incoming
  const outgoing = request(engineUrl + url, { method, headers }, answer => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  outgoing.on('error', () => response.destroy())
  response.on('close', () => outgoing.destroy())
  incoming.pipe(outgoing)
}
