// What a Connect runner is given, read and checked once, and what its user holds afterwards.

import { randomUUID } from 'node:crypto'
import type { RegisterReply, RegisterRequest } from '@perdure/protocol'
import { engineUrl, parseKeys, readEnvironment } from '../environment.ts'
import type { PerdureError } from '../errors.ts'
import type { Handler, HandlerOptions } from '../handler.ts'
import { registerRequest } from '../registration.ts'

export interface ConnectOptions extends HandlerOptions {
  /** Base URL of the engine. Default: `ENGINE_URL`, else `http://127.0.0.1:4777`. */
  engineUrl?: string
  /** Default: `ENGINE_API_KEY`. */
  apiKey?: string
  /**
   * Stable id of this runner, to pin runs to, and under which it comes back to its passes after a lost connection.
   * Omitted: the engine forgets the runner with its socket, and what was in flight on it starts anew.
   */
  runner?: string
  /** Default: `ENGINE_REGION`. */
  region?: string
  /** Most passes that the engine gives this runner at a time, 1 to 100,000. Default: no bound of this side. */
  maxConcurrency?: number
  /** Sockets to the engine, 1 to 16: more than one spreads many small passes. Default 1. */
  sockets?: number
  /**
   * Go on with a pass once the engine has made a finished step durable, instead of ending the pass there: a run of
   * many steps is then one pass. Default true; only with an engine that offers it.
   */
  checkpoints?: boolean
  /**
   * End in order on SIGTERM and SIGINT: passes in flight are finished, then the process ends; a second signal ends
   * it at once. Default true.
   */
  handleSignals?: boolean
  /** How long `close()` lets the passes in flight go on before they are cancelled. Default 30 s. */
  closeTimeoutMs?: number
  /** How long passes go on, and results wait, while the engine is away. Default 60 s. */
  awayTimeoutMs?: number
  /** First delay before a lost connection is dialled again; it doubles up to 15 s. Default 250 ms. */
  retryInitialMs?: number
  /** Called once whenever the connection begins to fail, and with every refusal of another kind. */
  onError?: (error: PerdureError) => void
  /** Told of each change of state, once. Default: the console. */
  log?: (level: 'info' | 'warn' | 'error', message: string) => void
}

/** A runner that is connected, or about to be. */
export interface ConnectedRunner {
  /**
   * The engine's first acknowledgement. Rejects with a {@link PerdureError} when the engine refuses at first (a
   * wrong key or version, a cron that does not compile, an engine that cannot prove the signing key), or when the
   * runner is closed before; never because the engine is away. The runner keeps trying in every case but the last.
   */
  readonly ready: Promise<RegisterReply>
  /** Whether a socket is registered now. */
  readonly connected: boolean
  /**
   * Starts no further pass, lets those in flight finish, and disconnects once the engine has acknowledged their
   * results; passes that take longer than `closeTimeoutMs` are cancelled. Never rejects; further calls answer the
   * same promise.
   */
  close(): Promise<void>
}

/** The options, read: what every socket of the runner shares. */
export interface ConnectSettings {
  /** `ws://host:port/connect`, the engine's URL otherwise as given. */
  readonly url: string
  /** As told to people. */
  readonly engine: string
  readonly apiKey: string | undefined
  /** What the engine must sign its answer to the handshake with; none: it is taken as it is. */
  readonly signingKeys: readonly string[]
  /** Names the process towards the engine; each socket adds its number. */
  readonly instance: string
  readonly sockets: number
  readonly checkpoints: boolean
  readonly closeTimeoutMs: number
  readonly awayTimeoutMs: number
  readonly retryInitialMs: number
  /** Payload of `runner.register`, but for what is each socket's own. */
  readonly registration: Omit<RegisterRequest, 'url'>
  /** Over all sockets. */
  readonly maxConcurrency: number | undefined
}

const SOCKETS_MAX = 16
const CONCURRENCY_MAX = 100_000

/** Reads the options. Throws a TypeError that names the one that will not do. */
export function readSettings(options: ConnectOptions, handler: Handler): ConnectSettings {
  const engine = engineUrl(options.engineUrl)
  const { url: _, ...registration } = registerRequest(handler, { url: '', framework: 'connect' }, options)
  const { maxConcurrency } = options
  if (maxConcurrency !== undefined) whole('maxConcurrency', maxConcurrency, CONCURRENCY_MAX)
  const sockets = whole('sockets', options.sockets ?? 1, SOCKETS_MAX)
  return {
    url: `${engine.replace(/^http/, 'ws')}/connect`,
    engine,
    apiKey: options.apiKey ?? readEnvironment('ENGINE_API_KEY'),
    signingKeys: parseKeys(options.signingKey ?? readEnvironment('ENGINE_SIGNING_KEY')),
    instance: randomUUID(),
    // Each takes one pass at least.
    sockets: Math.min(sockets, maxConcurrency ?? sockets),
    checkpoints: options.checkpoints ?? true,
    closeTimeoutMs: options.closeTimeoutMs ?? 30_000,
    awayTimeoutMs: options.awayTimeoutMs ?? 60_000,
    retryInitialMs: options.retryInitialMs ?? 250,
    registration,
    maxConcurrency,
  }
}

/**
 * What a socket registers as the most passes at a time. The engine counts those of a runner, whichever socket they came
 * on; without an id each socket is a runner of its own, and gets its share.
 */
export function concurrencyOf(
  { maxConcurrency, sockets, registration }: ConnectSettings,
  index: number,
): number | undefined {
  if (maxConcurrency === undefined || registration.runner !== undefined) return maxConcurrency
  return Math.floor(maxConcurrency / sockets) + (index < maxConcurrency % sockets ? 1 : 0)
}

function whole(name: string, value: number, max: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= max) return value
  throw new TypeError(`connect: ${name} must be a whole number from 1 to ${max}, not ${value}`)
}
