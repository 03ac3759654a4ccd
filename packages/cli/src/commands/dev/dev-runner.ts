// The runner of `perdure dev`: a process of its own, ended and started anew on demand, one at a time.

import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { RUNNER_SETTINGS } from '@perdure/protocol'

export interface DevRunnerOptions {
  /** Absolute path of the file it runs. */
  entry: string
  /** Besides the environment of this process. */
  env: Record<string, string>
  /** A line that it wrote. */
  onLine(line: string): void
  /** Something to tell of it. */
  onNote(note: string): void
}

/** How long a runner may take to end: for new code, and at the end of it all. */
const RESTART_MS_MAX = 3_000
const END_MS_MAX = 10_000
/** Of the settings, those that runners read. The others have the engine's secrets. */
const FOR_RUNNERS: readonly string[] = RUNNER_SETTINGS

export class DevRunner {
  readonly #options: DevRunnerOptions
  #child: ChildProcess | undefined
  #gone: Promise<void> = Promise.resolve()
  /** Ended by us: that is no news. */
  #ending = false
  #restarting = false
  #wanted = false
  #over = false

  constructor(options: DevRunnerOptions) {
    this.#options = options
    // Whatever becomes of this process, it leaves none behind.
    process.once('exit', () => this.#signal('SIGKILL'))
  }

  /** Starts it, after the one that runs has ended. Calls meanwhile are one. */
  restart(): void {
    this.#wanted = true
    if (this.#restarting) return
    this.#restarting = true
    this.#cycle().finally(() => {
      this.#restarting = false
    })
  }

  /** Ends it for good. */
  async end(): Promise<void> {
    this.#over = true
    await this.#stop(END_MS_MAX)
  }

  async #cycle(): Promise<void> {
    while (this.#wanted && !this.#over) {
      await this.#stop(RESTART_MS_MAX)
      this.#wanted = false
      if (!this.#over) this.#start()
    }
  }

  #start(): void {
    const { entry, onLine, onNote } = this.#options
    const child = spawn(process.execPath, [...loaders(entry), entry], {
      env: this.#environment(),
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // An interrupt of the terminal is for this process alone: it ends the runner in its turn.
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

  /** To the runner and whatever it has started. */
  #signal(signal: NodeJS.Signals): void {
    const pid = this.#child?.pid
    if (pid === undefined) return
    try {
      process.kill(process.platform === 'win32' ? pid : -pid, signal)
    } catch {
      // It has ended meanwhile.
    }
  }

  #environment(): NodeJS.ProcessEnv {
    const inherited = Object.entries(process.env).filter(
      ([name]) => !name.startsWith('ENGINE_') || FOR_RUNNERS.includes(name),
    )
    const colour = process.stdout.isTTY && process.env.NO_COLOR === undefined ? { FORCE_COLOR: '1' } : {}
    return { ...colour, ...Object.fromEntries(inherited), ...this.#options.env }
  }
}

/** What node loads first: TypeScript, with the project's tsx or else ours, and the end of an orphan. */
function loaders(entry: string): string[] {
  const orphan = new URL(`./orphan.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url).href
  return /\.[cm]?tsx?$/.test(entry) ? ['--import', tsx(), '--import', orphan] : ['--import', orphan]
}

function tsx(): string {
  try {
    const project = createRequire(join(process.cwd(), 'package.json'))
    return pathToFileURL(project.resolve('tsx')).href
  } catch {
    return import.meta.resolve('tsx')
  }
}
