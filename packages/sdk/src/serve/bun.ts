// `@perdure/sdk/bun`: serves on Bun with its own server, or as a `fetch` handler of an existing `Bun.serve`.

import { setTimeout as delay } from 'node:timers/promises'
import { createHandlerFor, type Handler, type HandlerOptions } from '../runner/handler.ts'
import { REQUEST_BYTES_MAX } from '../wire/limits.ts'
import { createFetchHandler, refuse } from './fetch.ts'
import { type RunnerServer, runnerOf, SERVE_OPTIONS, type ServeOptions } from './own-server.ts'

/** The part of Bun's server that the adapter uses. */
export interface BunServer {
  readonly port: number
  stop(closeActive?: boolean): Promise<void>
  /** Sets the seconds of silence after which the connection of a request is closed; 0 means never. */
  timeout(request: Request, seconds: number): void
  /** The address of the caller. */
  requestIP?(request: Request): { address: string } | null
}

/** `fetch` of `Bun.serve`, or one of its routes. */
export type BunHandler = (request: Request, server?: Pick<BunServer, 'timeout' | 'requestIP'>) => Promise<Response>

interface Bun {
  serve(options: {
    port: number
    hostname: string
    idleTimeout: number
    maxRequestBodySize: number
    fetch: BunHandler
  }): BunServer
}

/**
 * Creates a handler for an existing server:
 * `Bun.serve({ routes: { '/invoke': createBunHandler({ app: 'shop', workflows }) } })`. The caller registers the app. A
 * pass may take longer than Bun keeps a silent connection open, so the handler disables that limit for its requests.
 */
export function createBunHandler(options: HandlerOptions | Handler): BunHandler {
  return createFetchHandler(options)
}

/**
 * Starts a server for the invoke endpoint and registers it with the engine. Resolves when the server listens. Rejects
 * with a TypeError on any other runtime.
 */
export async function serve(options: ServeOptions): Promise<RunnerServer> {
  const { Bun } = globalThis as unknown as { Bun?: Bun }
  if (!Bun) throw new TypeError('This adapter runs only on Bun; on Node and Deno, import `@perdure/sdk/node`')
  const { port = 3000, host = '127.0.0.1', path = '/invoke' } = options
  const handler = createHandlerFor('serve', options, SERVE_OPTIONS)
  handler.listensOn(host)
  if (options.url !== undefined) handler.servedAt(options.url)
  const handle = createBunHandler(handler)
  const inFlight = new Set<Promise<Response>>()
  const server = Bun.serve({
    port,
    hostname: host,
    // Longer than the engine keeps a connection idle: if the server closed first, it could cut off a new request.
    idleTimeout: 75,
    maxRequestBodySize: REQUEST_BYTES_MAX * 2,
    fetch: (request, server) => {
      if (new URL(request.url).pathname !== path) {
        return Promise.resolve(refuse(404, `Invokes are answered at ${path}`))
      }
      const answer = handle(request, server)
      inFlight.add(answer)
      return answer.finally(() => inFlight.delete(answer))
    },
  })
  const close = async () => {
    const stopped = server.stop()
    while (inFlight.size > 0) await Promise.allSettled(inFlight)
    // Gives the last answers time to be sent. A graceful stop would wait much longer, for idle connections.
    await Promise.race([stopped, delay(50)])
    await server.stop(true)
  }
  return runnerOf(handler, options, { framework: 'bun', port: server.port, close })
}
