// An HTTP server that answers by a script: one entry per request, in order; the last entry repeats.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

interface Seen {
  method: string
  /** Path and query. */
  path: string
  headers: IncomingMessage['headers']
  body: string
}

export type Script = (response: ServerResponse, request: IncomingMessage) => unknown

interface TestServer {
  url: string
  seen: Seen[]
  /** Resolves when the client has closed the connection of its n-th request before the answer was complete. */
  cut(n: number): Promise<void>
}

export async function openServer(...script: Script[]): Promise<TestServer> {
  const seen: Seen[] = []
  const cuts: PromiseWithResolversLike[] = []
  const cutOf = (n: number) => (cuts[n] ??= withResolvers())
  const server = createServer(async (request, response) => {
    const step = script[Math.min(seen.length, script.length - 1)] as Script
    const entry: Seen = {
      method: request.method as string,
      path: request.url as string,
      headers: request.headers,
      body: '',
    }
    const n = seen.push(entry)
    response.on('close', () => {
      if (!response.writableFinished) cutOf(n).resolve()
    })
    for await (const chunk of request) entry.body += chunk
    await step(response, request)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    return new Promise(resolve => server.close(() => resolve()))
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    cut: n => cutOf(n).promise,
  }
}

/** The URL of a closed server: connections are refused. */
export async function closedUrl(): Promise<string> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return `http://127.0.0.1:${port}`
}

export const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}): Script =>
  response =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

export const refused = (status: number, code: string): Script =>
  json({ error: { code, message: `no: ${code}`, requestId: 'req_1' } }, status)

/** Never answers. */
export const hangs: Script = () => {}

/** Writes the frames, then ends the stream, drops it or leaves it open. */
export const frames =
  (list: object[], then: 'ends' | 'drops' | 'stays'): Script =>
  response => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('retry: 2000\n\n: keep-alive\n\n')
    for (const frame of list) response.write(`event: x\ndata: ${JSON.stringify(frame)}\n\n`)
    if (then === 'ends') response.end()
    // Drop the connection only after the written data was sent.
    if (then === 'drops') response.write('da', () => response.destroy())
  }

interface PromiseWithResolversLike {
  promise: Promise<void>
  resolve(): void
}

function withResolvers(): PromiseWithResolversLike {
  let resolve = () => {}
  const promise = new Promise<void>(done => {
    resolve = done
  })
  return { promise, resolve: () => resolve() }
}
