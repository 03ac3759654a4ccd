// Keeping a runner registered: `POST /register` repeated as a heartbeat, for as long as the runner serves
// (contract §2.11, decisions "Registration, routing, wire").

import { setTimeout as delay } from 'node:timers/promises'
import { PROTOCOL_VERSION, type RegisterReply, type RegisterRequest } from '@perdure/protocol'
import { postToEngine } from './engine-http.ts'
import { detectRuntime, engineUrl, readEnvironment } from './environment.ts'
import { PerdureError } from './errors.ts'
import type { Handler } from './handler.ts'
import { SDK_NAME, SDK_VERSION } from './version.ts'

/** Which engine a runner registers with, and as whom. */
export interface RegistrationOptions {
  /** Base URL of the engine. Default: `ENGINE_URL`, else `http://127.0.0.1:4777`. */
  engineUrl?: string
  /** Default: `ENGINE_API_KEY`. */
  apiKey?: string
  /** Stable id of this runner, to pin runs to. Omitted: the engine keys it by its URL. */
  runner?: string
  /** Default: `ENGINE_REGION`. */
  region?: string
  /** Called once whenever registering begins to fail, and with every refusal of another kind. */
  onError?: (error: PerdureError) => void
  /** Told of each change of state, once. Default: the console. */
  log?: (level: 'info' | 'warn' | 'error', message: string) => void
  /** First delay before a failed registration is tried again; it doubles up to 30 s. Default 500 ms. */
  retryInitialMs?: number
}

/** A heartbeat that goes on until it is stopped. */
export interface Registration {
  /**
   * The first acknowledgement. Rejects when the engine refuses the first registration (a wrong key, a cron that
   * does not compile), when it does not sign with a signing key of the runner, or when the registration is stopped
   * before; never because the engine is away.
   */
  readonly ready: Promise<RegisterReply>
  /** Stops the heartbeat, once and for all. */
  stop(): void
}

const TIMEOUT_MS = 10_000
const RETRY_MAX_MS = 30_000
const HEARTBEAT_DEFAULT_MS = 30_000
const HEARTBEAT_MIN_MS = 10

/** Registers a handler that is served at `url`, and keeps it registered. Neither throws nor blocks later on. */
export function startRegistration(
  handler: Handler,
  serving: { url: string; framework: string },
  options: RegistrationOptions = {},
): Registration {
  const stopping = new AbortController()
  const { signal } = stopping
  let resolveReady: (reply: RegisterReply) => void = () => undefined
  let rejectReady: (error: unknown) => void = () => undefined
  const ready = new Promise<RegisterReply>((resolve, reject) => {
    resolveReady = resolve
    rejectReady = reject
  })
  // Whoever does not look at `ready` must not lose the process over it.
  ready.catch(() => undefined)
  const engine = engineUrl(options.engineUrl)
  const reporter = new Reporter(engine, options)
  const request = {
    url: `${engine}/register`,
    apiKey: options.apiKey ?? readEnvironment('ENGINE_API_KEY'),
    signal,
    timeoutMs: TIMEOUT_MS,
  }
  const told = registerRequest(handler, serving, options)
  const fingerprints = [...handler.keyFingerprints]
  const register = (keyFingerprint: string | undefined) => {
    const body = { ...told, ...(keyFingerprint !== undefined && { keyFingerprint }) }
    return postToEngine<RegisterReply>({ ...request, body })
  }
  const beat = async (): Promise<number> => {
    try {
      const reply = await registerTrusted(fingerprints, register)
      reporter.registered(reply)
      resolveReady(reply)
      return Math.max(HEARTBEAT_MIN_MS, reply.heartbeatMs || HEARTBEAT_DEFAULT_MS)
    } catch (error) {
      if (!(error instanceof PerdureError)) throw error
      reporter.failed(error)
      if (isRefusal(error)) rejectReady(error)
      return reporter.retryDelayMs()
    }
  }
  repeat(beat, signal).catch(error => rejectReady(signal.aborted ? signal.reason : error))
  return { ready, stop: () => stopping.abort(new Error('The registration was stopped')) }
}

/**
 * Registers with an engine that signs with a key of ours. While keys are being rotated that may be any of them: when
 * the engine does not have the first, it goes to the end of the list, and the next is told.
 */
async function registerTrusted(
  fingerprints: string[],
  register: (keyFingerprint: string | undefined) => Promise<RegisterReply>,
): Promise<RegisterReply> {
  for (let untold = fingerprints.length; ; untold--) {
    const reply = await register(fingerprints[0])
    if (fingerprints.length === 0 || reply.keyMatches === true) return reply
    if (reply.keyMatches === undefined)
      throw untrusted('The engine has no signing key, and this runner has one')
    if (untold <= 1) throw untrusted("The engine's signing key is not that of this runner")
    fingerprints.push(fingerprints.shift() as string)
  }
}

function untrusted(why: string): PerdureError {
  const message = `${why} (ENGINE_SIGNING_KEY on both sides): every invoke would be refused`
  return new PerdureError({ code: 'untrusted_engine', status: 0, message })
}

/** Calls `beat` for ever, each time after the delay it returned; its timers keep no process alive. */
async function repeat(beat: () => Promise<number>, signal: AbortSignal): Promise<never> {
  for (;;) {
    const delayMs = await beat()
    await delay(delayMs, undefined, { ref: false, signal })
  }
}

/** What the runner tells of itself (contract §2.11, "Register request"). */
export function registerRequest(
  handler: Handler,
  serving: { url: string; framework: string },
  options: Pick<RegistrationOptions, 'runner' | 'region'> = {},
): RegisterRequest {
  const region = options.region ?? readEnvironment('ENGINE_REGION')
  return {
    app: handler.app,
    ...(options.runner !== undefined && { runner: options.runner }),
    url: serving.url,
    runtime: detectRuntime(),
    language: 'typescript',
    framework: serving.framework,
    sdkName: SDK_NAME,
    version: SDK_VERSION,
    ...(region !== undefined && { region }),
    ...(handler.keyFingerprints[0] !== undefined && { keyFingerprint: handler.keyFingerprints[0] }),
    protocolVersion: PROTOCOL_VERSION,
    workflows: handler.workflows,
  }
}

/** A 4xx says that this registration will not do; a busy or absent engine says nothing about it. */
function isRefusal({ code, status }: PerdureError): boolean {
  return isUntrusted(code) || (status >= 400 && status < 500 && status !== 408 && status !== 429)
}

function isUntrusted(code: string): boolean {
  return code === 'untrusted_engine'
}

/** Turns many equal outcomes into one line per change. */
class Reporter {
  #state = ''
  #failures = 0
  readonly #engine: string
  readonly #options: RegistrationOptions

  constructor(engine: string, options: RegistrationOptions) {
    this.#engine = engine
    this.#options = options
  }

  registered(reply: RegisterReply): void {
    this.#failures = 0
    const warnings = reply.warnings ?? []
    if (!this.#changed(`registered ${warnings.join()}`)) return
    this.#log('info', `Registered with ${this.#engine} as ${reply.runnerId}: ${reply.workflows} workflows`)
    for (const warning of warnings) this.#log('warn', warning)
  }

  failed(error: PerdureError): void {
    this.#failures++
    const refused = isRefusal(error)
    if (!this.#changed(refused ? `refused ${error.message}` : 'away')) return
    const told = isUntrusted(error.code)
      ? `This runner refuses ${this.#engine}`
      : `${this.#engine} ${refused ? 'refuses' : 'does not take'} the registration${refused ? '' : ', trying on'}`
    this.#log(refused ? 'error' : 'warn', `${told}: ${error.message}`)
    this.#options.onError?.(error)
  }

  /** Exponential, with jitter so that a fleet does not return in step. */
  retryDelayMs(): number {
    const initialMs = this.#options.retryInitialMs ?? 500
    const fullMs = Math.min(RETRY_MAX_MS, initialMs * 2 ** Math.min(this.#failures - 1, 20))
    return fullMs * (0.8 + 0.2 * Math.random())
  }

  #changed(state: string): boolean {
    const changed = this.#state !== state
    this.#state = state
    return changed
  }

  #log(level: 'info' | 'warn' | 'error', message: string): void {
    if (this.#options.log) this.#options.log(level, message)
    else console[level](`perdure: ${message}`)
  }
}
