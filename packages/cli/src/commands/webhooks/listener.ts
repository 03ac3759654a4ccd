// The HTTP server of `perdure webhooks listen`: on loopback only, with bounds on bodies, connections and time.

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { UsageError } from '../../command-line/flags.ts'

const HOST = '127.0.0.1'
const BODY_BYTES_MAX = 1024 * 1024
const CONNECTIONS_MAX = 64
const REQUEST_TIMEOUT_MS = 30_000
const CLOSE_GRACE_MS = 1000

export interface Post {
  path: string
  /** Keys are lower-case names. */
  headers: IncomingHttpHeaders
  /** The raw body. */
  body: Buffer
}

export interface Listener {
  url: string
  /** Accepts no more posts; resolves when open requests are answered, or after a second, when they are broken off. */
  close(): Promise<void>
}

/**
 * Listens on `port` (0: a free one) and answers each POST with the status that `take` returns. Other methods get 405, a body over
 * 1 MiB gets 413. Errors of `take` go to `onError`. Throws UsageError if the port cannot be used.
 */
export async function openListener(options: {
  port: number
  take: (post: Post) => Promise<number>
  onError: (error: unknown) => void
}): Promise<Listener> {
  const { port, take, onError } = options
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    respond(request, response, take).catch(error => {
      response.destroy()
      onError(error)
    })
  })
  server.maxConnections = CONNECTIONS_MAX
  await new Promise<void>((resolve, reject) => {
    server.once('error', error => reject(new UsageError(`--port ${port} cannot be used: ${error.message}`)))
    server.listen(port, HOST, resolve)
  })
  return {
    url: `http://${HOST}:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise(resolve => {
        const cut = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS)
        server.close(() => {
          clearTimeout(cut)
          resolve()
        })
        server.closeIdleConnections()
      }),
  }
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  take: (post: Post) => Promise<number>,
): Promise<void> {
  response.setHeader('connection', 'close')
  if (request.method !== 'POST') return refuse(response, 405, 'webhooks are posted')
  const body = await bodyOf(request)
  if (body === 'gone') return
  if (body === 'too large') return refuse(response, 413, `more than ${BODY_BYTES_MAX} bytes`)
  const status = await take({ path: request.url ?? '/', headers: request.headers, body })
  response.writeHead(status).end()
}

function refuse(response: ServerResponse, status: number, why: string): void {
  response.writeHead(status, { 'content-type': 'text/plain' }).end(`${why}\n`)
}

/** The body of a request; `gone` when the client closed the connection or was too slow. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | 'too large' | 'gone'> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    // Keeps the request open when the loop ends early: the answer has to be sent first.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      bytes += (chunk as Buffer).length
      if (bytes > BODY_BYTES_MAX) return 'too large'
      chunks.push(chunk as Buffer)
    }
    return Buffer.concat(chunks)
  } catch {
    return 'gone'
  }
}
