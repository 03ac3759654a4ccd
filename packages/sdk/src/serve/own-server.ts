// The options, the runner and the URL of adapters that start their own server. Called by the adapters of Node, Bun and Fastify.

import type { Server } from 'node:http'
import type { OptionNames } from '@perdure/client/internal'
import type { RegisterReply } from '@perdure/protocol'
import { closeOnce } from '../runner/close-on-signals.ts'
import { HANDLER_OPTIONS, type Handler, type HandlerOptions } from '../runner/handler.ts'
import { REGISTRATION_OPTIONS, type RegistrationOptions, startRegistration } from '../runner/registration.ts'

/** The workflows to serve, the address to listen on, and how they are registered. */
export interface ServeOptions extends HandlerOptions, RegistrationOptions {
  /** Port to listen on; 0 takes a free one. Default 3000. */
  port?: number
  /** Address to listen on. Default 127.0.0.1. */
  host?: string
  /** Path of the invoke endpoint. Default `/invoke`. */
  path?: string
  /** URL at which the engine reaches the invoke endpoint. Default: built from host, port and path. */
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
  /**
   * Notifies the engine that the runner leaves, and accepts no new invokes. Passes in flight end with their next durable step.
   * Resolves when they are answered.
   */
  close(): Promise<void>
}

/**
 * Registers a handler whose server listens on `port`, and returns its runner. `close` ends the server.
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
    handler.leaves()
    await registration?.leave()
    await close()
  }
  const ready = registration?.ready ?? new Promise(() => undefined)
  return { url, port, ready, close: closeOnce(end, options.handleSignals) }
}

/** Returns the host of a URL for clients on the same machine, even if the server listens on every address. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

/** Returns the URL of a path on a listening server, for clients on the same machine. Throws if the server has no port. */
export function urlOf(server: Pick<Server, 'address'>, path: string): string {
  const address = server.address()
  if (address === null || typeof address === 'string') {
    throw new TypeError(
      `The server does not listen on a port (${address}): give the \`url\` at which the engine reaches it`,
    )
  }
  return `http://${reachable(address.address)}:${address.port}${path}`
}
