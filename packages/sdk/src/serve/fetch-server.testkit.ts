// A real HTTP server in front of a web-standard handler, for frameworks without a server on Node.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'

interface FetchServer {
  /** The URL without a path. */
  readonly url: string
  close(): Promise<void>
}

export async function startFetchServer(
  handle: (request: Request) => Response | Promise<Response>,
): Promise<FetchServer> {
  const server = createServer(async (incoming, outgoing) => {
    const gone = new AbortController()
    outgoing.on('close', () => {
      if (!outgoing.writableFinished) gone.abort(new Error('The client is gone'))
    })
    incoming.on('error', () => undefined)
    const hasBody = incoming.method !== 'GET' && incoming.method !== 'HEAD'
    const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
      method: incoming.method ?? 'GET',
      headers: incoming.headers as Record<string, string>,
      signal: gone.signal,
      ...(hasBody && { body: Readable.toWeb(incoming) as ReadableStream, duplex: 'half' }),
    })
    const response = await handle(request)
    if (outgoing.destroyed) return
    outgoing.writeHead(response.status, Object.fromEntries(response.headers)).end(await response.text())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => end(server) }
}

/** Closes a server and all its connections. */
export function end(server: ReturnType<typeof createServer>): Promise<void> {
  return new Promise(resolve => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
