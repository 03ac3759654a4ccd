// An engine inside the test process, on a file and a socket of its own: quick to start, and its clock can be the
// test's. What needs a real process (signals, crashes, exit codes) uses `engine-process.ts`.

import { Writable } from 'node:stream'
import { createEngine, type Engine, type Ports, readConfig } from '@perdure/engine'
import pino from 'pino'
import { onCleanup } from '../cleanup.ts'
import { Api } from '../http/api.ts'
import type { PlainRunner, PlainRunnerOptions } from '../runner/plain-runner.ts'
import { openRunner } from '../runner/runner.ts'
import { freshSchema } from '../servers/postgres.ts'
import { tempStoreFile } from '../temp.ts'
import type { JumpClock } from './jump-clock.ts'

/** The engine's log tells of its own failures at this level: no test here means to cause one. */
const ERROR = 50

export interface OpenOptions {
  env?: Record<string, string>
  /** That of an engine before it. */
  storeFile?: string
  clock?: JumpClock
  /** Replaces further ports, to let them fail. */
  ports?: Partial<Ports>
}

export interface OpenEngine {
  api: Api
  url: string
  /** For the next engine on the same store. */
  storeFile: string
  /** The store as `ENGINE_STORE` names it. */
  store: string
  /** What the engine logged, as JSON lines. */
  log: string[]
  /** A runner that listens and is registered. */
  runner(options: PlainRunnerOptions): Promise<PlainRunner>
  /** The errors it has logged so far, taken out of the log: a test that makes the engine fail expects them. */
  takeErrors(): string[]
  stop(): Promise<void>
}

export async function openEngine(options: OpenOptions = {}): Promise<OpenEngine> {
  const storeFile = options.storeFile ?? (await newStoreFile())
  const store = storeFile.startsWith('postgres:') ? storeFile : `sqlite:${storeFile}`
  const config = readConfig({
    ENGINE_STORE: store,
    ENGINE_DRAIN_TIMEOUT: '1s',
    ...options.env,
  })
  const log: string[] = []
  const sink = new Writable({
    write(chunk, _encoding, done) {
      log.push(String(chunk).trimEnd())
      done()
    },
  })
  const ports = { ...(options.clock ? { clock: options.clock } : {}), ...options.ports }
  const engine: Engine = await createEngine(config, pino({ level: 'info', base: undefined }, sink), ports)
  const takeErrors = () => {
    const errors = log.filter(isError)
    log.splice(0, log.length, ...log.filter(line => !isError(line)))
    return errors
  }
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= engine.stop()
    return stopped
  }
  onCleanup(async () => {
    await stop()
    const errors = takeErrors()
    if (errors.length > 0) throw new Error(`the engine logged errors:\n${errors.join('\n')}`)
  })
  const url = await engine.app.listen({ host: '127.0.0.1', port: 0 })
  engine.start()
  const api = new Api(() => url)
  return {
    api,
    url,
    storeFile,
    store,
    log,
    takeErrors,
    stop,
    async runner(options) {
      const runner = await openRunner(options)
      await runner.register(api)
      return runner
    },
  }
}

/** In the project `postgres`, whose environment says so, every engine has a schema of its own. */
const isOnPostgres = process.env.PERDURE_TEST_STORE === 'postgres'

/** Where there is no store yet. */
export async function newStoreFile(): Promise<string> {
  return isOnPostgres ? freshSchema() : tempStoreFile()
}

function isError(line: string): boolean {
  return (JSON.parse(line) as { level: number }).level >= ERROR
}
