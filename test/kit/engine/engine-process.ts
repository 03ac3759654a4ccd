// Runs the real engine in its own process, on a real file, with real signals.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onCleanup } from '../cleanup.ts'
import { Api } from '../http/api.ts'
import type { PlainRunner, PlainRunnerOptions } from '../runner/plain-runner.ts'
import { openRunner } from '../runner/runner.ts'
import { tempStoreFile } from '../temp.ts'
import { PATIENCE_MS, within } from '../until.ts'
import { noteLog } from './recent-log.ts'

const PERDURE = fileURLToPath(new URL('../../../packages/cli/bin/perdure.js', import.meta.url))
const PROGRAM = [process.execPath, PERDURE]
const BANNER = /perdure listens on (http:\/\/\S+)/

export interface ProcessOptions {
  env?: Record<string, string>
  /** Further arguments of `perdure serve`. */
  args?: string[]
  storeFile?: string
  /** A command that runs the engine as its child and keeps its process id, such as `strace -D`. */
  under?: readonly string[]
  /** Replaces the command `perdure`, for an engine with a planted bug. */
  program?: readonly string[]
}

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

/** Runs `perdure serve` until it ends: for configurations that do not start. */
export async function serveToTheEnd(options: ProcessOptions = {}): Promise<Exit> {
  const child = launch(options)
  return within(child.exit, 'the end of the process', PATIENCE_MS)
}

export class EngineProcess {
  readonly storeFile: string
  readonly api: Api
  readonly #options: ProcessOptions
  #url = ''
  #running: Launched | undefined
  readonly #runners = new Set<PlainRunner>()

  constructor(options: ProcessOptions) {
    this.storeFile = options.storeFile ?? tempStoreFile()
    this.#options = { ...options, storeFile: this.storeFile }
    this.api = new Api(() => this.#url)
    onCleanup(() => this.kill9())
  }

  get url(): string {
    return this.#url
  }

  get pid(): number {
    return this.#process().child.pid as number
  }

  get stderr(): string {
    return this.#process().stderr()
  }

  /** Starts the engine on its file. Resolves when it listens, on another port each time. */
  async start(): Promise<this> {
    const running = launch(this.#options)
    this.#running = running
    const early = running.exit.then(exit => {
      throw new Error(`the engine ended before it listened: ${exit.code} ${exit.stderr}`)
    })
    early.catch(() => {})
    this.#url = await within(Promise.race([running.listens, early]), 'the banner', PATIENCE_MS)
    for (const runner of this.#runners) await runner.rejoin(this.api)
    return this
  }

  /** Kills the process without a shutdown. It is gone when this resolves. */
  async kill9(): Promise<void> {
    const running = this.#running
    if (!running) return
    this.#running = undefined
    running.child.kill('SIGKILL')
    await running.exit
  }

  signal(signal: NodeJS.Signals): void {
    this.#process().child.kill(signal)
  }

  /** Drains the process: sends SIGTERM, and resolves when it has ended. */
  async sigterm(): Promise<Exit> {
    const running = this.#process()
    running.child.kill('SIGTERM')
    const exit = await running.exit
    this.#running = undefined
    return exit
  }

  /** Resolves with the exit whenever the process ends. */
  get exit(): Promise<Exit> {
    return this.#process().exit
  }

  async restart(): Promise<this> {
    await this.kill9()
    return this.start()
  }

  async runner(options: PlainRunnerOptions): Promise<PlainRunner> {
    const runner = await openRunner(options)
    await runner.register(this.api)
    this.#runners.add(runner)
    return runner
  }

  #process(): Launched {
    if (!this.#running) throw new Error('the engine is not running')
    return this.#running
  }
}

/** Starts an engine process; resolves when it listens. */
export function startEngine(options: ProcessOptions = {}): Promise<EngineProcess> {
  return new EngineProcess(options).start()
}

/** The setting `ENGINE_STORE` for a file, or for the address of a PostgreSQL schema. */
function storeOf(storeFile: string): string {
  return storeFile.startsWith('postgres:') ? storeFile : `sqlite:${storeFile}`
}

interface Launched {
  child: ChildProcess
  listens: Promise<string>
  exit: Promise<Exit>
  stderr(): string
}

function launch(options: ProcessOptions): Launched {
  const { env = {}, args = [], storeFile = tempStoreFile(), under = [], program = PROGRAM } = options
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('ENGINE_'))
  const serve = [...program, 'serve', '--port', '0', '--store', storeOf(storeFile), ...args]
  const [command = '', ...rest] = [...under, ...serve]
  const child = spawn(command, rest, {
    env: { ...Object.fromEntries(inherited), ENGINE_LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // The engine's process ends with the test process.
  const orphaned = () => child.kill('SIGKILL')
  process.once('exit', orphaned)
  let stdout = ''
  let stderr = ''
  const listens = new Promise<string>(resolve => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      const url = BANNER.exec(stdout)?.[1]
      if (url !== undefined) resolve(url)
    })
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
    noteLog(text)
  })
  const exit = once(child, 'close').then(([code, signal]): Exit => {
    process.removeListener('exit', orphaned)
    return { code, signal, stdout, stderr }
  })
  return { child, listens, exit, stderr: () => stderr }
}
