// Keeps a runner registered: repeats `POST /register` as a heartbeat for as long as the runner serves. Called by the
// serve adapters. See docs/wire-protocol.md#register.

import { setTimeout as delay } from 'node:timers/promises'
import { PerdureError } from '@perdure/client'
import { connectionOf, exchange, type OptionNames, readEnvironment, requestOf } from '@perdure/client/internal'
import {
  type EngineList,
  type Feature,
  knows,
  PROTOCOL_VERSION,
  type RegisterReply,
  type RegisterRequest,
} from '@perdure/protocol'
import { detectRuntime, sleepsBetweenRequests } from '../engine/environment.ts'
import { deferred } from '../run/deferred.ts'
import { closeOnce } from './close-on-signals.ts'
import type { Handler } from './handler.ts'
import { type ReportsTo, STORED_STEPS_MIN } from './http-reports.ts'
import { isRefusalStatus, StateLog, type StateLogOptions } from './state-log.ts'

/** The `sdkName` field of a registration. */
export const SDK_NAME = '@perdure/sdk'
/** The `version` field of a registration. */
export const SDK_VERSION = '0.1.0'

/** The engine that a runner registers with, and the runner's identity. */
export interface RegistrationOptions extends StateLogOptions {
  /**
   * Base URL of the engine, or the URLs of several engines of one cluster: a list, or a text with commas. Default: `ENGINE_URL`,
   * otherwise `http://127.0.0.1:4777`.
   */
  engineUrl?: string | readonly string[]
  /** Default: `ENGINE_API_KEY`. */
  apiKey?: string
  /** Stable id of this runner, to pin runs to. Default: the engine identifies the runner by its URL. */
  runner?: string
  /** Default: `ENGINE_REGION`. */
  region?: string
  /**
   * Report finished steps to the engine while a pass continues, instead of ending the pass at each step. Default: from the 32nd
   * step of a run, where this begins to pay, and never if the platform stops the process between requests.
   */
  checkpoints?: boolean
  /** First delay before a failed registration is retried; it doubles up to 30 s. Default 500 ms. */
  retryInitialMs?: number
}

/** Names of the options of a registration. */
export const REGISTRATION_OPTIONS: OptionNames<RegistrationOptions> = {
  engineUrl: true,
  apiKey: true,
  runner: true,
  region: true,
  checkpoints: true,
  retryInitialMs: true,
  log: true,
  onError: true,
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
  /**
   * Stops the heartbeat and notifies the engine that this process shuts down, so that it sends no more invokes here; passes in
   * flight end with their next durable step. Resolves when the engine knows, or after a few seconds; never rejects. Call it
   * before the server closes.
   */
  leave(): Promise<void>
}

const REGISTER = { method: 'POST', path: '/register' }
const REGISTER_TIMEOUT_MS = 10_000
/** Maximum time of each of the two waits of `leave`. */
const LEAVE_TIMEOUT_MS = 2_000
const RETRY_DELAY_MS_MAX = 30_000
const HEARTBEAT_MS_DEFAULT = 30_000
const HEARTBEAT_MS_MIN = 10
const UNTRUSTED_ENGINE = 'untrusted_engine'

/**
 * Registers a handler that is served at `url`, and keeps it registered. Returns at once. Throws only for an engine URL that is
 * not a URL, and a ConfigError for a handler without a signing key that other machines may reach. All later results are reported
 * by `ready`, `log` and `onError`.
 */
export function startRegistration(
  handler: Handler,
  serving: { url: string; framework: string },
  options: RegistrationOptions = {},
): Registration {
  handler.servedAt(serving.url, options.runner)
  const stopping = new AbortController()
  const { signal } = stopping
  const { promise: ready, resolve, reject } = deferred<RegisterReply>()
  const connection = connectionOf({ url: options.engineUrl, apiKey: options.apiKey })
  const { engines } = connection
  const log = new StateLog(options)
  const post = async (body: RegisterRequest, limits: { timeoutMs: number; signal: AbortSignal | undefined }) => {
    const request = requestOf(connection, REGISTER, { body })
    return (await exchange(connection, request, { ...limits, isRepeatable: true })).json as RegisterReply
  }
  const reportsTo = reportsOf(options, engines)
  const described = registerRequest(handler, serving, options)
  const reports = reportsTo.storedStepsMin !== undefined
  const ofHttp: Feature[] = ['marked-answers', ...(reports ? (['http-checkpoints'] as const) : [])]
  const features = [...(described.features ?? []), ...ofHttp]
  const description = { ...described, features, instance: randomInstance() }
  const fingerprints = [...handler.keyFingerprints]
  const register = (keyFingerprint: string | undefined) =>
    post({ ...description, keyFingerprint }, { timeoutMs: REGISTER_TIMEOUT_MS, signal })
  let failures = 0
  let isRegistered = false
  const heartbeat = async (): Promise<number> => {
    try {
      const reply = await registerTrusted(fingerprints, register)
      failures = 0
      isRegistered = true
      handler.acknowledged(reply, knows(reply.features, 'http-checkpoints') ? reportsTo : undefined)
      const message = `Registered with ${engines.url} as ${reply.runnerId}: ${reply.workflows} workflows`
      log.registered(reply, message, handler.warnings)
      resolve(reply)
      return Math.max(HEARTBEAT_MS_MIN, reply.heartbeatMs || HEARTBEAT_MS_DEFAULT)
    } catch (error) {
      if (!(error instanceof PerdureError)) throw error
      const untrusted = error.code === UNTRUSTED_ENGINE
      // A busy or unreachable engine has not decided about the registration.
      const refused = untrusted || isRefusalStatus(error.status)
      const problem = refused ? 'refuses the registration' : 'does not accept the registration, retrying'
      log.failed(error, refused, untrusted ? `This runner refuses ${engines.url}` : `${engines} ${problem}`)
      if (refused) reject(error)
      return retryDelayMs(++failures, options.retryInitialMs)
    }
  }
  let underWay: Promise<number> | undefined
  let isLeaving = false
  const repeat = async () => {
    while (!isLeaving) {
      underWay = heartbeat()
      await delay(await underWay, undefined, { ref: false, signal })
    }
  }
  repeat().catch(error => reject(signal.aborted ? signal.reason : error))
  const stop = () => stopping.abort(new Error('The registration was stopped'))
  const leave = async () => {
    isLeaving = true
    handler.leaves()
    // A heartbeat that arrived after the leave would undo it.
    if (isRegistered) await Promise.race([underWay, delay(LEAVE_TIMEOUT_MS, undefined, { ref: false })]).catch(() => {})
    stop()
    if (!isRegistered) return
    const body = { ...description, keyFingerprint: fingerprints[0], leaving: true }
    await post(body, { timeoutMs: LEAVE_TIMEOUT_MS, signal: undefined }).catch(() => {})
  }
  return { ready, stop, leave: closeOnce(leave, false) }
}

/** Returns the engines for the reports of passes, if passes may report. */
function reportsOf({ checkpoints }: RegistrationOptions, engines: EngineList): ReportsTo {
  if (!(checkpoints ?? !sleepsBetweenRequests())) return { engines, storedStepsMin: undefined }
  return { engines, storedStepsMin: checkpoints ? 0 : STORED_STEPS_MIN }
}

/** Returns an id for this process among those that register as the same runner. */
function randomInstance(): string {
  return Math.random().toString(36).slice(2, 12).padEnd(10, '0')
}

/**
 * Registers with an engine that signs with one of the runner's keys. During a key rotation that may be any of them: if the engine
 * does not have the first key of the list, this moves it to the end and registers with the next.
 */
async function registerTrusted(
  fingerprints: string[],
  register: (keyFingerprint: string | undefined) => Promise<RegisterReply>,
): Promise<RegisterReply> {
  for (let untried = fingerprints.length; ; untried--) {
    const reply = await register(fingerprints[0])
    if (fingerprints.length === 0 || reply.keyMatches === true) return reply
    if (reply.keyMatches === undefined) throw untrusted('The engine has no signing key, and this runner has one')
    if (untried <= 1) throw untrusted('The engine and this runner have different signing keys')
    fingerprints.push(fingerprints.shift() as string)
  }
}

function untrusted(why: string): PerdureError {
  const message = `${why} (ENGINE_SIGNING_KEY on both sides): every invoke would be refused`
  return new PerdureError({ code: UNTRUSTED_ENGINE, status: 0, message })
}

/** Builds the body of `POST /register`: the runner's description of itself and its workflows. */
export function registerRequest(
  handler: Handler,
  serving: { url: string; framework: string },
  options: Pick<RegistrationOptions, 'runner' | 'region'> = {},
): RegisterRequest {
  return {
    app: handler.app,
    runner: options.runner,
    url: serving.url,
    runtime: detectRuntime(),
    language: 'typescript',
    framework: serving.framework,
    sdkName: SDK_NAME,
    version: SDK_VERSION,
    region: options.region ?? readEnvironment('ENGINE_REGION'),
    keyFingerprint: handler.keyFingerprints[0],
    protocolVersion: PROTOCOL_VERSION,
    ...(sleepsBetweenRequests() ? { sleeps: true } : {}),
    // Without a key there is no signature to check.
    features: [
      ...(handler.keyFingerprints.length > 0 ? (['signature-v2'] as const) : []),
      'end-with-steps',
      'step-policy',
      'memo-op',
      'memo-attempt',
      'invoke-timeout',
      'attributes',
      'wait-order',
      'another-pass',
      'callbacks',
      'continue-as',
      'cleanup',
      'wait-for-run',
      'start-run',
      'budgets',
      'signals',
      'batch-events',
      'step-limits',
      'streams',
    ] satisfies Feature[],
    ...(handler.limits === undefined ? {} : { limits: handler.limits }),
    workflows: handler.workflows,
  }
}

/** Exponential backoff with jitter, so that many runners do not all retry at the same moment. */
function retryDelayMs(failures: number, initialMs = 500): number {
  const fullMs = Math.min(RETRY_DELAY_MS_MAX, initialMs * 2 ** Math.min(failures - 1, 20))
  return fullMs * (0.8 + 0.2 * Math.random())
}
