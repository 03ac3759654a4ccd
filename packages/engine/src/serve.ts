// `perdure serve`: one engine process from its settings to its end. Signals start the drain; a second one ends it.

import type { AddressInfo } from 'node:net'
import pino from 'pino'
import { createEngine, type Engine } from './compose.ts'
import { type Config, ConfigError, readConfig } from './config.ts'

export interface ServeOptions {
  env: NodeJS.ProcessEnv
  flags: Record<string, string>
  /** Where the banner goes. */
  print(line: string): void
}

/** Exit code of a configuration that cannot be used. */
const EXIT_BAD_CONFIG = 2

/** Runs until a signal ends it; answers the exit code. */
export async function serve({ env, flags, print }: ServeOptions): Promise<number> {
  let config: Config
  try {
    config = readConfig(env, flags)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`perdure: ${error.message}\n`)
    return EXIT_BAD_CONFIG
  }
  const log = pino({ level: config.logLevel, base: undefined }, pino.destination({ fd: 2, sync: false }))
  let engine: Engine | undefined
  try {
    engine = await createEngine(config, log)
    await engine.app.listen({ host: config.host, port: config.port })
  } catch (error) {
    process.stderr.write(`perdure: ${(error as Error).message}\n`)
    await engine?.stop()
    return EXIT_BAD_CONFIG
  }
  engine.start()
  banner(config, engine, print)
  await untilSignal(log)
  await engine.stop()
  return 0
}

function banner(config: Config, engine: Engine, print: (line: string) => void): void {
  const { port } = engine.app.server.address() as AddressInfo
  const host = config.host.includes(':') ? `[${config.host}]` : config.host
  print(`perdure listens on http://${host}:${port}`)
  print(`  store  sqlite:${config.storeFile}`)
  print(`  auth   ${authMode(engine.keys)}`)
  print(
    `  invokes are ${config.signingKeys.length > 0 ? 'signed' : 'not signed (ENGINE_SIGNING_KEY is not set)'}`,
  )
}

function authMode({ open, size }: Engine['keys']): string {
  if (open) return 'open (loopback only, no API key)'
  if (size === 0) return 'closed (every API key was revoked: perdure keys create makes one)'
  return size === 1 ? '1 API key' : `${size} API keys`
}

/** Resolves at the first SIGINT or SIGTERM. A second one exits at once; recovery is then the same as after a crash. */
function untilSignal(log: pino.Logger): Promise<void> {
  return new Promise(resolve => {
    let seen = false
    const onSignal = (signal: NodeJS.Signals) => {
      if (seen) process.exit(1)
      seen = true
      log.info({ signal }, 'draining')
      resolve()
    }
    process.on('SIGINT', onSignal)
    process.on('SIGTERM', onSignal)
  })
}
