// `@perdure/sdk/node`: serves on node:http with its own server, or as a listener of an existing one.

import { Buffer } from 'node:buffer'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Cancellation } from '../run/cancellation.ts'
import {
  createHandler,
  createHandlerFor,
  type Handler,
  type HandlerOptions,
  type HandlerResponse,
  refusal,
} from '../runner/handler.ts'
import { REQUEST_BYTES_MAX } from '../wire/limits.ts'
import { BODY_PARSED_MESSAGE, readNodeBody } from './node-body.ts'
import { type RunnerServer, runnerOf, SERVE_OPTIONS, type ServeOptions } from './own-server.ts'

export type { RunnerServer, ServeOptions } from './own-server.ts'

/** A request listener of `node:http`. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void

/** Creates a listener that answers invokes, for the path of the invoke endpoint on an existing server. */
export function createNodeHandler(options: HandlerOptions | Handler): NodeHandler {
  const handler = 'handle' in options ? options : createHandler(options)
  return (request, response) => {
    const refuse = (status: number, message: string) => respond(response, refusal(status, message))
    if (request.method !== 'POST') return refuse(405, 'An invoke is a POST')
    const cancellation = new Cancellation()
    response.on('close', () => {
      if (!response.writableFinished) cancellation.cancel()
    })
    readNodeBody(request, rawBody => {
      if (rawBody === 'parsed') return refuse(500, BODY_PARSED_MESSAGE)
      if (rawBody === 'too large') {
        response.shouldKeepAlive = false
        return refuse(413, `At most ${REQUEST_BYTES_MAX} bytes are read`)
      }
      const { headers, socket } = request
      handler.handle({ headers, rawBody, cancellation, remoteAddress: socket?.remoteAddress }).then(
        answer => respond(response, answer),
        error => refuse(500, String(error)),
      )
    })
  }
}

/** Starts a server for the invoke endpoint and registers it with the engine. Resolves when the server listens. */
export async function serve(options: ServeOptions): Promise<RunnerServer> {
  const { port = 3000, host = '127.0.0.1', path = '/invoke' } = options
  const handler = createHandlerFor('serve', options, SERVE_OPTIONS)
  handler.listensOn(host)
  if (options.url !== undefined) handler.servedAt(options.url)
  const nodeHandler = createNodeHandler(handler)
  const inFlight = new Set<ServerResponse>()
  const server = createServer((request, response) => {
    inFlight.add(response)
    response.on('close', () => inFlight.delete(response))
    if (pathOf(request) === path) nodeHandler(request, response)
    else respond(response, refusal(404, `Invokes are answered at ${path}`))
  })
  // Longer than the engine keeps a connection idle: if the server closed first, it could cut off a new request.
  server.keepAliveTimeout = 75_000
  server.headersTimeout = 80_000
  await listen(server, port, host)
  const { port: bound } = server.address() as AddressInfo
  return runnerOf(handler, options, { framework: 'node', port: bound, close: () => close(server, inFlight) })
}

function respond(response: ServerResponse, { status, headers, body }: HandlerResponse): void {
  if (response.destroyed) return
  response.sendDate = false
  const length = String(Buffer.byteLength(body))
  response.writeHead(status, { ...headers, 'content-length': length })
  response.end(body)
}

function pathOf(request: IncomingMessage): string {
  const target = request.url ?? '/'
  const query = target.indexOf('?')
  return query === -1 ? target : target.slice(0, query)
}

/** Returns an error that explains what to do if the port is taken. */
function listenError(error: NodeJS.ErrnoException, port: number, host: string): Error {
  if (error.code !== 'EADDRINUSE') return error
  const message = `Port ${port} of ${host} is taken (EADDRINUSE): give \`serve\` another \`port\`, or 0 for a free one`
  return Object.assign(new Error(message, { cause: error }), { code: error.code })
}

function listen(server: Server, port: number, host: string): Promise<void> {
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new TypeError(`serve: port must be a whole number from 0 to 65535, not ${JSON.stringify(port)}`)
  }
  return new Promise((resolve, reject) => {
    server.once('error', error => reject(listenError(error, port, host)))
    server.listen(port, host, () => {
      server.removeAllListeners('error')
      resolve()
    })
  })
}

async function close(server: Server, inFlight: Set<ServerResponse>): Promise<void> {
  const closed = new Promise<void>(resolve => server.close(() => resolve()))
  // Each connection ends with its answer. Connections without a request are closed below: clients keep them open.
  while (inFlight.size > 0) {
    await Promise.all([...inFlight].map(lastAnswer))
  }
  server.closeAllConnections()
  await closed
}

function lastAnswer(response: ServerResponse): Promise<void> {
  response.shouldKeepAlive = false
  return new Promise(resolve => response.on('close', resolve))
}
