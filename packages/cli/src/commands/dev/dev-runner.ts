// The runner of `perdure dev`: one child process, stopped and started again on demand.

import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { RUNNER_SETTINGS } from '@perdure/protocol'

interface DevRunnerOptions {
  /** Absolute path of the file that starts the runner. */
  entry: string
  /** Reads variables that apply if this process's environment does not set them. Called before each start. */
  dotenv(): Record<string, string>
  /** Variables in addition to the environment of this process. */
  env: Record<string, string>
  /** Called for each line that the runner writes. */
  onLine(line: string): void
  /** Called with a note for the user, such as that the runner ended. */
  onNote(note: string): void
}

/** How long a runner may take to end before it is killed: at a restart, and at the end of `perdure dev`. */
const RESTART_MS_MAX = 3_000
const END_MS_MAX = 10_000
/** The settings that the runner inherits. The others contain the engine's secrets. */
const FOR_RUNNERS: readonly string[] = RUNNER_SETTINGS

/** Starts, restarts and ends the runner of `perdure dev`. */
export class DevRunner {
  readonly #options: DevRunnerOptions
  #child: ChildProcess | undefined
  #gone: Promise<void> = Promise.resolve()
  /** We ended the child, so its end needs no note. */
  #ending = false
  #restarting = false
  #wanted = false
  #over = false

  constructor(options: DevRunnerOptions) {
    this.#options = options
    // Leave no runner behind, however this process ends.
    process.once('exit', () => this.#signal('SIGKILL'))
  }

  /** Starts the runner after the running one has ended. Repeated calls in the meantime count as one. */
  restart(): void {
    this.#wanted = true
    if (this.#restarting) return
    this.#restarting = true
    this.#cycle().finally(() => {
      this.#restarting = false
    })
  }

  /** Stops the runner and starts no other one. */
  async end(): Promise<void> {
    this.#over = true
    await this.#stop(END_MS_MAX)
  }

  async #cycle(): Promise<void> {
    while (this.#wanted && !this.#over) {
      await this.#stop(RESTART_MS_MAX)
      this.#wanted = false
      try {
        if (!this.#over) this.#start()
      } catch (error) {
        this.#options.onNote(`the runner cannot be started: ${(error as Error).message}`)
      }
    }
  }

  #start(): void {
    const { entry, onLine, onNote } = this.#options
    const child = spawn(process.execPath, [...loaders(entry), entry], {
      env: this.#environment(),
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // The runner is in its own process group, so the terminal's interrupt does not reach it: this process ends the runner.
      detached: process.platform !== 'win32',
    })
    this.#child = child
    this.#ending = false
    for (const stream of [child.stdout, child.stderr]) createInterface(stream as Readable).on('line', onLine)
    this.#gone = new Promise(resolve => {
      child.once('error', error => {
        onNote(`the runner cannot be started: ${error.message}`)
        resolve()
      })
      child.once('close', (code, signal) => {
        if (!this.#ending) {
          const how = signal === null ? `with code ${code}` : `by ${signal}`
          onNote(`the runner ended ${how}; waiting for a file to change`)
        }
        if (this.#child === child) this.#child = undefined
        resolve()
      })
    })
  }

  async #stop(patienceMs: number): Promise<void> {
    this.#ending = true
    this.#child?.kill('SIGTERM')
    const late = setTimeout(() => this.#signal('SIGKILL'), patienceMs)
    await this.#gone
    clearTimeout(late)
  }

  /** Signals the runner and all processes that it has started. */
  #signal(signal: NodeJS.Signals): void {
    const pid = this.#child?.pid
    if (pid === undefined) return
    try {
      process.kill(process.platform === 'win32' ? pid : -pid, signal)
    } catch {
      // The runner has already ended.
    }
  }

  #environment(): NodeJS.ProcessEnv {
    const inherited = Object.entries({ ...this.#options.dotenv(), ...process.env }).filter(
      ([name]) => !name.startsWith('ENGINE_') || FOR_RUNNERS.includes(name),
    )
    const colour = process.stdout.isTTY && process.env.NO_COLOR === undefined ? { FORCE_COLOR: '1' } : {}
    return { ...colour, ...Object.fromEntries(inherited), ...this.#options.env }
  }
}

/** Modules that Node loads first: tsx for TypeScript (the project's own, else ours), and exit-with-parent. */
function loaders(entry: string): string[] {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const exitWithParent = ['--import', new URL(`./exit-with-parent.${extension}`, import.meta.url).href]
  return /\.[cm]?tsx?$/.test(entry) ? ['--import', tsx(), ...exitWithParent] : exitWithParent
}

function tsx(): string {
  try {
    const project = createRequire(join(process.cwd(), 'package.json'))
    return pathToFileURL(project.resolve('tsx')).href
  } catch {
    return import.meta.resolve('tsx')
  }
}
