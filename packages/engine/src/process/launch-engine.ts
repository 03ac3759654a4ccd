// Starts an engine by its settings. Loaded by serve.ts once the heap is known to be large enough.

import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import pino from 'pino'
import { closeInTime } from '../compose/close-in-time.ts'
import { createEngine, type Engine } from '../compose/engine.ts'
import { type Config, ConfigError, readConfig, storeName } from '../config/config.ts'
import { consoleFiles } from '../http/response/console-files.ts'
import { LaunchError, type LaunchedEngine, type LaunchOptions } from './launch.ts'

/** Starts an engine by its settings. Throws a LaunchError if its settings, store or port cannot be used. */
export async function launchEngine({ env, flags, log: to }: LaunchOptions): Promise<LaunchedEngine> {
  const config = read(env, flags)
  turnOffPretenuring()
  const log = pino({ level: config.logLevel, base: undefined }, to ?? pino.destination({ fd: 2, sync: false }))
  let engine: Engine | undefined
  try {
    engine = await createEngine(config, log)
    await engine.app.listen({ host: config.host, port: config.port })
  } catch (error) {
    if (engine) await closeInTime(engine.stop())
    throw new LaunchError(portProblem(config, error) ?? reasonOf(error as Error), { cause: error })
  }
  engine.start()
  const { port } = engine.app.server.address() as AddressInfo
  return {
    url: urlOf(loopbackOf(config.host), port),
    banner: bannerOf(config, engine, port),
    stop: async signal => {
      if (signal !== undefined) log.info({ signal }, 'draining')
      await engine.stop()
      return engine.store.failure?.()?.message
    },
  }
}

/** The sentence about an unusable port; undefined for another error. */
function portProblem({ host, port }: Config, error: unknown): string | undefined {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (syscall !== 'listen') return undefined
  if (code === 'EADDRINUSE')
    return `port ${port} of ${host} is taken (${code}), perhaps by another engine; choose another with --port or ENGINE_PORT`
  if (code === 'EACCES')
    return `port ${port} of ${host} is not allowed to this user (${code}); choose one above 1023 with --port or ENGINE_PORT`
  return undefined
}

/**
 * Returns the message in one line, followed by its cause's message unless it already contains that: the error of a failed store
 * does not give the reason.
 */
function reasonOf({ message, cause }: Error): string {
  const isSaid = !(cause instanceof Error) || message.includes(cause.message)
  const reason = isSaid ? message : `${message.replace(/\.$/, '')}: ${cause.message}`
  return reason.replace(/\s+/g, ' ')
}

/**
 * Turns off pretenuring. V8 allocates in the old generation the objects that mostly survive their first collection. Here nearly
 * all do: a run under load lives a little longer than the time between two collections, and then it is garbage; but old garbage
 * keeps the young objects it refers to alive until the next full collection. Without pretenuring a collection takes half as long
 * and promotes 1 % as much, and a run costs a tenth less CPU.
 */
function turnOffPretenuring(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}

function read(env: NodeJS.ProcessEnv, flags: Record<string, string>): Config {
  try {
    return readConfig(env, flags)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new LaunchError(error.message, { cause: error })
  }
}

function bannerOf(config: Config, engine: Engine, port: number): string[] {
  return [
    `perdure listens on ${urlOf(config.host, port)}`,
    ...(config.console && consoleFiles()
      ? [`  console  ${config.publicUrl ?? urlOf(loopbackOf(config.host), port)}/console/`]
      : []),
    `  store  ${storeName(config.store)}`,
    `  auth   ${authMode(engine.keys)}`,
    `  invokes are ${config.signingKeys.length > 0 ? 'signed' : 'not signed (ENGINE_SIGNING_KEY is not set)'}`,
    ...(config.hold ? ['  held: nothing is claimed, fired or delivered until `perdure engine release`'] : []),
  ]
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** The address at which this machine reaches a listener on `host`. */
function loopbackOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '::1' : host
}

function authMode({ open, size }: Engine['keys']): string {
  if (open) return 'open (loopback only, no API key)'
  if (size === 0) return 'closed (every API key was revoked: perdure keys create makes one)'
  return size === 1 ? '1 API key' : `${size} API keys`
}
