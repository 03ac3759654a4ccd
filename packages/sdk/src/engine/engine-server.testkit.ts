// A real HTTP server in place of the engine: it records requests and gives the answers that a test sets.

import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface EngineCall {
  method: string | undefined
  path: string | undefined
  headers: IncomingHttpHeaders
  body: unknown
}

export interface EngineServer {
  readonly url: string
  readonly calls: EngineCall[]
  /** Resolves when this many calls have arrived in total. */
  called(count: number): Promise<void>
  close(): Promise<void>
}

type Reply = { status: number; body: unknown; headers?: Record<string, string> } | 'hang' | 'reset'

/** Answers the n-th call with the n-th reply, and all later ones with the last. */
export async function startEngine(...replies: Reply[]): Promise<EngineServer> {
  const calls: EngineCall[] = []
  const waiting: { count: number; resolve: () => void }[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    calls.push({
      method: request.method,
      path: request.url,
      headers: request.headers,
      body: text === '' ? undefined : JSON.parse(text),
    })
    answer(response, replies[Math.min(calls.length, replies.length) - 1] as Reply)
    for (const { count, resolve } of waiting) if (calls.length >= count) resolve()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    called: count =>
      calls.length >= count ? Promise.resolve() : new Promise(resolve => waiting.push({ count, resolve })),
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function answer(response: ServerResponse, reply: Reply): void {
  if (reply === 'hang') return
  if (reply === 'reset') {
    response.destroy()
    return
  }
  const text = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body)
  response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers }).end(text)
}
