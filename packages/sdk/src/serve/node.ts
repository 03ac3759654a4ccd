// `@perdure/sdk/node`: serves on node:http with its own server, or as a listener of an existing one.

import { Buffer } from 'node:buffer'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { RegisterReply } from '@perdure/protocol'
import { Cancellation } from '../run/cancellation.ts'
import { closeOnce } from '../runner/close-on-signals.ts'
import {
  createHandler,
  createHandlerFor,
  HANDLER_OPTIONS,
  type Handler,
  type HandlerOptions,
  type HandlerResponse,
  refusal,
} from '../runner/handler.ts'
import { REGISTRATION_OPTIONS, type RegistrationOptions, startRegistration } from '../runner/registration.ts'
import type { OptionNames } from '../schema/known-options.ts'
import { REQUEST_BYTES_MAX } from '../wire/limits.ts'
import { BODY_PARSED_MESSAGE, readNodeBody } from './node-body.ts'

/** The workflows to serve, the address to listen on, and how they are registered. */
export interface ServeOptions extends HandlerOptions, RegistrationOptions {
  /** Port to listen on; 0 takes a free one. Default 3000. */
  port?: number
  /** Address to listen on. Default 127.0.0.1. */
  host?: string
  /** Path of the invoke endpoint. Default `/invoke`. */
  path?: string
  /** URL at which the engine reaches the invoke endpoint. Default: made of host, port and path. */
  url?: string
  /** Register with the engine. Default true. */
  register?: boolean
  /**
   * Shut down gracefully on SIGTERM and SIGINT: invokes in flight are answered, then the process ends. A second signal
   * ends it at once. Default true.
   */
  handleSignals?: boolean
}

/** Names of the options of `serve`. */
export const SERVE_OPTIONS: OptionNames<ServeOptions> = {
  ...HANDLER_OPTIONS,
  ...REGISTRATION_OPTIONS,
  port: true,
  host: true,
  path: true,
  url: true,
  register: true,
  handleSignals: true,
}

/** A runner whose server listens. */
export interface RunnerServer {
  /** URL of the invoke endpoint, as registered. */
  readonly url: string
  readonly port: number
  /** See `Registration.ready`; never settles with `register: false`. */
  readonly ready: Promise<RegisterReply>
  /** Notifies the engine that the runner leaves, and accepts no new invokes. Resolves when the passes in flight are answered. */
  close(): Promise<void>
}

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

/**
 * Registers a handler whose server listens on `port`, and returns its runner. `close` ends the server.
 * @internal Called by the Node and Bun adapters.
 */
export function runnerOf(
  handler: Handler,
  options: ServeOptions,
  { framework, port, close }: { framework: string; port: number; close: () => Promise<void> },
): RunnerServer {
  const { host = '127.0.0.1', path = '/invoke' } = options
  const url = options.url ?? `http://${reachable(host)}:${port}${path}`
  const registration = options.register === false ? undefined : startRegistration(handler, { url, framework }, options)
  const end = async () => {
    await registration?.leave()
    await close()
  }
  const ready = registration?.ready ?? new Promise(() => undefined)
  return { url, port, ready, close: closeOnce(end, options.handleSignals) }
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

/** Returns the host of a URL for clients on the same machine, also when the server listens on every address. */
export function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

/** Returns the URL of a path on a listening server, for clients on the same machine. Throws when it has no port. */
export function urlOf(server: Pick<Server, 'address'>, path: string): string {
  const address = server.address()
  if (address === null || typeof address === 'string') {
    throw new TypeError(`The server listens on no port (${address}): give the \`url\` the engine reaches it at`)
  }
  return `http://${reachable(address.address)}:${address.port}${path}`
}

/** A port that is taken gets a sentence with the remedy. */
function listenError(error: NodeJS.ErrnoException, port: number, host: string): Error {
  if (error.code !== 'EADDRINUSE') return error
  const message = `Port ${port} of ${host} is taken (EADDRINUSE): give \`serve\` another \`port\`, or 0 for a free one`
  return Object.assign(new Error(message, { cause: error }), { code: error.code })
}

function listen(server: Server, port: number, host: string): Promise<void> {
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
