// Options and interface of a Connect runner, and the validated settings that its sockets share. Called by connect.ts.

import { randomUUID } from 'node:crypto'
import { enginesOf, type OptionNames, readEnvironment } from '@perdure/client/internal'
import { CONNECT_CONCURRENCY_MAX, type RegisterReply } from '@perdure/protocol'
import { signingKeysOf } from '../engine/environment.ts'
import { HANDLER_OPTIONS, type Handler, type HandlerOptions } from '../runner/handler.ts'
import { REGISTRATION_OPTIONS, type RegistrationOptions, registerRequest } from '../runner/registration.ts'

/** Options of `connect()`. */
export interface ConnectOptions extends HandlerOptions, RegistrationOptions {
  /**
   * Stable id of this runner. Runs can be pinned to it, and a runner with an id continues its passes after it reconnects. Without
   * an id, the engine forgets the runner when its socket ends, and retries the passes that were in flight.
   */
  runner?: string
  /** Maximum number of passes that the engine sends to this runner at a time, 1 to 100,000. Default: no limit. */
  maxConcurrency?: number
  /** Number of sockets to the engine, 1 to 16. Several sockets spread many small passes. Default 1. */
  sockets?: number
  /**
   * Continue a pass once the engine has made a finished step durable, instead of ending the pass at the step. A run of
   * many steps is then one pass. Has an effect only if the engine supports checkpoints. Default true.
   */
  checkpoints?: boolean
  /**
   * Shut down gracefully on SIGTERM and SIGINT: each pass in flight continues to its next durable step, then the process ends. A
   * second signal ends it at once. Default true.
   */
  handleSignals?: boolean
  /** How long `close()` lets the passes in flight continue before it cancels them. Default 30 s. */
  closeTimeoutMs?: number
  /** How long passes continue, and results are kept, while the engine is away. Default 60 s. */
  awayTimeoutMs?: number
  /** First delay before a lost connection is reopened; it doubles up to 15 s. Default 250 ms. */
  retryInitialMs?: number
}

/** Names of the options of `connect()`. */
export const CONNECT_OPTIONS: OptionNames<ConnectOptions> = {
  ...HANDLER_OPTIONS,
  ...REGISTRATION_OPTIONS,
  maxConcurrency: true,
  sockets: true,
  checkpoints: true,
  handleSignals: true,
  closeTimeoutMs: true,
  awayTimeoutMs: true,
}

/** A runner that is connected or keeps trying to connect. */
export interface ConnectedRunner {
  /**
   * Resolves with the engine's first acknowledgement. Rejects with a {@link PerdureError} when the engine refuses the
   * first registration (a wrong key or version, a cron that does not compile, an engine that does not have the signing
   * key); the runner keeps trying nevertheless. Also rejects when the runner is closed first. Never rejects because the
   * engine cannot be reached.
   */
  readonly ready: Promise<RegisterReply>
  /** Whether a socket is registered now. */
  readonly connected: boolean
  /**
   * Starts no further pass, lets each pass in flight reach its next durable step, where another runner continues, and disconnects
   * once the engine has acknowledged their results. Passes that take longer than `closeTimeoutMs` are cancelled. Never rejects;
   * further calls return the same promise.
   */
  close(): Promise<void>
}

/** The validated options, which all sockets of the runner share. */
export type ConnectSettings = ReturnType<typeof readSettings>

const SOCKETS_MAX = 16

/** Validates the options. Throws a TypeError that names the invalid option. */
export function readSettings(options: ConnectOptions, handler: Handler) {
  const { url: _, ...registration } = registerRequest(handler, { url: '', framework: 'connect' }, options)
  const { maxConcurrency } = options
  if (maxConcurrency !== undefined) requireInteger('maxConcurrency', maxConcurrency, CONNECT_CONCURRENCY_MAX)
  // Each socket takes at least one pass.
  const sockets = Math.min(requireInteger('sockets', options.sockets ?? 1, SOCKETS_MAX), maxConcurrency ?? SOCKETS_MAX)
  const instance = randomUUID()
  return {
    engines: enginesOf(options.engineUrl),
    apiKey: options.apiKey ?? readEnvironment('ENGINE_API_KEY'),
    /** The engine must sign its handshake response with one of these. Without keys every engine is accepted. */
    signingKeys: signingKeysOf(options.signingKey),
    /** The engine identifies the process and its sockets by these. */
    instances: Array.from({ length: sockets }, (_, index) => `${instance}-${index}`),
    sockets,
    checkpoints: options.checkpoints ?? true,
    closeTimeoutMs: options.closeTimeoutMs ?? 30_000,
    awayTimeoutMs: options.awayTimeoutMs ?? 60_000,
    retryInitialMs: options.retryInitialMs ?? 250,
    /** Payload of `runner.register`, except for the fields that differ between sockets. */
    registration: { ...registration, features: [...(registration.features ?? []), 'beats'] },
    /** Maximum number of passes on all sockets together. */
    maxConcurrency,
  }
}

/**
 * Returns the `maxConcurrency` that a socket registers. The engine counts the passes of a runner over all its sockets.
 * Without a runner id, the engine treats each socket as a separate runner, so each socket registers its share.
 */
export function concurrencyOf(
  { maxConcurrency, sockets, registration }: ConnectSettings,
  index: number,
): number | undefined {
  if (maxConcurrency === undefined || registration.runner !== undefined) return maxConcurrency
  return Math.floor(maxConcurrency / sockets) + (index < maxConcurrency % sockets ? 1 : 0)
}

function requireInteger(name: string, value: number, max: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= max) return value
  throw new TypeError(`connect: ${name} must be a whole number from 1 to ${max}, not ${value}`)
}
