// Keeps a runner registered: repeats `POST /register` as a heartbeat for as long as the runner serves. Called by the
// serve adapters. See docs/wire-protocol.md#register.

import { setTimeout as delay } from 'node:timers/promises'
import { PROTOCOL_VERSION, type RegisterReply, type RegisterRequest } from '@perdure/protocol'
import { detectRuntime, engineUrl, readEnvironment } from '../engine/environment.ts'
import { isRefusalStatus, postToEngine } from '../engine/http.ts'
import { SDK_NAME, SDK_VERSION } from '../engine/version.ts'
import { PerdureError } from '../wire/errors.ts'
import type { Handler } from './handler.ts'
import { createReady } from './ready.ts'
import { StateLog } from './state-log.ts'

/** The engine that a runner registers with, and the runner's identity. */
export interface RegistrationOptions {
  /** Base URL of the engine. Default: `ENGINE_URL`, else `http://127.0.0.1:4777`. */
  engineUrl?: string
  /** Default: `ENGINE_API_KEY`. */
  apiKey?: string
  /** Stable id of this runner, to pin runs to. Default: the engine identifies the runner by its URL. */
  runner?: string
  /** Default: `ENGINE_REGION`. */
  region?: string
  /** Called when registering begins to fail, and again when the engine refuses it for another reason. */
  onError?: (error: PerdureError) => void
  /** Called once for each change of state. Default: writes to the console. */
  log?: (level: 'info' | 'warn' | 'error', message: string) => void
  /** First delay before a failed registration is retried; it doubles up to 30 s. Default 500 ms. */
  retryInitialMs?: number
}

/** A registration that is repeated until it is stopped. */
export interface Registration {
  /**
   * Resolves with the engine's first acknowledgement. Rejects when the engine refuses the first registration (a wrong
   * key, a cron that does not compile), when the engine signs with none of the runner's signing keys, or when the
   * registration is stopped first. Never rejects because the engine cannot be reached.
   */
  readonly ready: Promise<RegisterReply>
  /** Stops the heartbeat for good. */
  stop(): void
}

const REGISTER_TIMEOUT_MS = 10_000
const RETRY_DELAY_MS_MAX = 30_000
const HEARTBEAT_MS_DEFAULT = 30_000
const HEARTBEAT_MS_MIN = 10

/**
 * Registers a handler that is served at `url`, and keeps it registered. Returns at once; throws only for an engine URL
 * that is not a URL. All later results are reported by `ready`, `log` and `onError`.
 */
export function startRegistration(
  handler: Handler,
  serving: { url: string; framework: string },
  options: RegistrationOptions = {},
): Registration {
  const stopping = new AbortController()
  const { signal } = stopping
  const { ready, resolve, reject } = createReady()
  const engine = engineUrl(options.engineUrl)
  const reporter = new Reporter(engine, options)
  const request = {
    url: `${engine}/register`,
    apiKey: options.apiKey ?? readEnvironment('ENGINE_API_KEY'),
    signal,
    timeoutMs: REGISTER_TIMEOUT_MS,
  }
  const description = registerRequest(handler, serving, options)
  const fingerprints = [...handler.keyFingerprints]
  const register = (keyFingerprint: string | undefined) => {
    const body = { ...description, ...(keyFingerprint !== undefined && { keyFingerprint }) }
    return postToEngine<RegisterReply>({ ...request, body })
  }
  const heartbeat = async (): Promise<number> => {
    try {
      const reply = await registerTrusted(fingerprints, register)
      reporter.registered(reply)
      resolve(reply)
      return Math.max(HEARTBEAT_MS_MIN, reply.heartbeatMs || HEARTBEAT_MS_DEFAULT)
    } catch (error) {
      if (!(error instanceof PerdureError)) throw error
      reporter.failed(error)
      if (isRefusal(error)) reject(error)
      return reporter.retryDelayMs()
    }
  }
  repeat(heartbeat, signal).catch(error => reject(signal.aborted ? signal.reason : error))
  return { ready, stop: () => stopping.abort(new Error('The registration was stopped')) }
}

/**
 * Registers with an engine that signs with one of the runner's keys. While keys are rotated that may be any of them:
 * when the engine does not have the first key of the list, moves it to the end and registers with the next.
 */
async function registerTrusted(
  fingerprints: string[],
  register: (keyFingerprint: string | undefined) => Promise<RegisterReply>,
): Promise<RegisterReply> {
  for (let untried = fingerprints.length; ; untried--) {
    const reply = await register(fingerprints[0])
    if (fingerprints.length === 0 || reply.keyMatches === true) return reply
    if (reply.keyMatches === undefined)
      throw untrusted('The engine has no signing key, and this runner has one')
    if (untried <= 1) throw untrusted("The engine's signing key is not that of this runner")
    fingerprints.push(fingerprints.shift() as string)
  }
}

function untrusted(why: string): PerdureError {
  const message = `${why} (ENGINE_SIGNING_KEY on both sides): every invoke would be refused`
  return new PerdureError({ code: 'untrusted_engine', status: 0, message })
}

/** Calls `heartbeat` again and again, each time after the delay it returned. The timers do not keep the process alive. */
async function repeat(heartbeat: () => Promise<number>, signal: AbortSignal): Promise<never> {
  for (;;) {
    const delayMs = await heartbeat()
    await delay(delayMs, undefined, { ref: false, signal })
  }
}

/** Builds the body of `POST /register`: the runner's description of itself and its workflows. */
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

/** Whether the engine refuses this registration. A busy or unreachable engine has not judged it. */
function isRefusal({ code, status }: PerdureError): boolean {
  return isUntrusted(code) || isRefusalStatus(status)
}

function isUntrusted(code: string): boolean {
  return code === 'untrusted_engine'
}

/** Reports the outcomes of the registrations: one log line for each change of state. */
class Reporter {
  #failures = 0
  readonly #log: StateLog
  readonly #engine: string
  readonly #options: RegistrationOptions

  constructor(engine: string, options: RegistrationOptions) {
    this.#engine = engine
    this.#options = options
    this.#log = new StateLog(options.log)
  }

  registered(reply: RegisterReply): void {
    this.#failures = 0
    const warnings = reply.warnings ?? []
    if (!this.#log.change(`registered ${warnings.join()}`)) return
    this.#log.write(
      'info',
      `Registered with ${this.#engine} as ${reply.runnerId}: ${reply.workflows} workflows`,
    )
    for (const warning of warnings) this.#log.write('warn', warning)
  }

  failed(error: PerdureError): void {
    this.#failures++
    const refused = isRefusal(error)
    if (!this.#log.change(refused ? `refused ${error.message}` : 'away')) return
    const state = isUntrusted(error.code)
      ? `This runner refuses ${this.#engine}`
      : `${this.#engine} ${refused ? 'refuses' : 'does not accept'} the registration${refused ? '' : ', retrying'}`
    this.#log.write(refused ? 'error' : 'warn', `${state}: ${error.message}`)
    this.#options.onError?.(error)
  }

  /** Exponential backoff with jitter, so that many runners do not all retry at the same moment. */
  retryDelayMs(): number {
    const initialMs = this.#options.retryInitialMs ?? 500
    const fullMs = Math.min(RETRY_DELAY_MS_MAX, initialMs * 2 ** Math.min(this.#failures - 1, 20))
    return fullMs * (0.8 + 0.2 * Math.random())
  }
}
