// Opens an engine inside the test process: quick to start, and its clock can be the test's. Tests of signals, crashes and exit
// codes need a separate process, which `engine-process.ts` starts.

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
import { noteLog } from './recent-log.ts'

/** The level at which the engine logs its own failures. A test that does not expect one fails. */
const LOG_LEVEL_ERROR = 50

export interface OpenOptions {
  env?: Record<string, string>
  /** The file of an engine that was opened before, or a new one. */
  storeFile?: string
  /** The store is a new file. By default it is in memory, which opens in a fifth of the time. */
  onDisk?: boolean
  clock?: JumpClock
  /** Replaces further ports, to make them fail. */
  ports?: Partial<Ports>
  /** Replaces the engine's bounds for the work under way. */
  bounds?: Parameters<typeof createEngine>[3]
}

export interface OpenEngine {
  api: Api
  url: string
  /** The file of the store, for the next engine or another connection. Throws if the store is in memory. */
  readonly storeFile: string
  /** The store as `ENGINE_STORE` names it. */
  readonly store: string
  /** The engine's log, as JSON lines. */
  log: string[]
  /** Opens a runner that listens and is registered. */
  runner(options: PlainRunnerOptions): Promise<PlainRunner>
  /**
   * Removes the errors so far from the log and returns them. A test that makes the engine fail checks them; errors that stay in
   * the log fail the test file.
   */
  takeErrors(): string[]
  stop(): Promise<void>
}

export async function openEngine(options: OpenOptions = {}): Promise<OpenEngine> {
  const storeFile = options.storeFile ?? (await fileFor(options))
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
      noteLog(String(chunk))
      done()
    },
  })
  const ports = { ...(options.clock ? { clock: options.clock } : {}), ...options.ports }
  const engine: Engine = await createEngine(
    config,
    pino({ level: config.logLevel, base: undefined }, sink),
    ports,
    options.bounds,
  )
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
    get storeFile() {
      if (storeFile === IN_MEMORY) throw new Error('the store is in memory: open the engine with `onDisk`')
      return storeFile
    },
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

const IN_MEMORY = ':memory:'

/** Where the project keeps the stores of its engines. Unset: in memory. */
const projectStore = process.env.PERDURE_TEST_STORE as 'disk' | 'postgres' | undefined

async function fileFor({ onDisk }: OpenOptions): Promise<string> {
  return onDisk || projectStore !== undefined ? newStoreFile() : IN_MEMORY
}

/** A store that does not exist yet: a file, or in the project `postgres` a schema. */
export async function newStoreFile(): Promise<string> {
  return projectStore === 'postgres' ? freshSchema() : tempStoreFile()
}

function isError(line: string): boolean {
  return (JSON.parse(line) as { level: number }).level >= LOG_LEVEL_ERROR
}
