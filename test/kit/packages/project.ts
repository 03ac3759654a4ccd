// A folder outside the repository where a test types a user's commands. npm installs from the stand-in registry.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { onCleanup } from '../cleanup.ts'
import type { Registry } from './registry.ts'

/** How long one command may take. It measures nothing: only a hung command exceeds it. */
const COMMAND_MS_MAX = 180_000

export interface Typed {
  /** The text written to standard output so far; `printed` has both outputs. */
  stdout(): string
  printed(): string
  ended: Promise<number | null>
  interrupt(): void
  kill9(): Promise<void>
}

export class Project {
  readonly home = mkdtempSync(join(tmpdir(), 'perdure-project-'))
  readonly env: Record<string, string | undefined>

  constructor(registry: Registry) {
    // The options of the test process (above all the condition for our own sources) do not apply to the project.
    const { NODE_OPTIONS: _, ...env } = process.env
    this.env = {
      ...env,
      npm_config_registry: registry.url,
      npm_config_cache: join(this.home, '.npm-cache'),
      npm_config_ignore_scripts: 'true',
      npm_config_audit: 'false',
      npm_config_fund: 'false',
      npm_config_update_notifier: 'false',
      npm_config_yes: 'true',
      // The settings of this machine's user must not affect the project.
      npm_config_userconfig: join(this.home, '.npmrc'),
    }
    onCleanup(() => rmSync(this.home, { recursive: true, force: true }))
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.home, path)), { recursive: true })
    writeFileSync(join(this.home, path), text)
  }

  /** Runs a command in a folder of the project. Resolves with its output, rejects when it fails. */
  async run(folder: string, command: string, ...args: string[]): Promise<string> {
    const options = { cwd: join(this.home, folder), env: this.env, timeout: COMMAND_MS_MAX }
    return (await promisify(execFile)(command, args, options)).stdout
  }

  /** Types a line in a shell, in a folder of the project. */
  type(folder: string, line: string): Typed {
    const child: ChildProcess = spawn('bash', ['-c', line], {
      cwd: join(this.home, folder),
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      // npm starts the command as a child process. A signal goes to both, as from a terminal.
      detached: true,
    })
    const texts = { stdout: '', both: '' }
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream]?.setEncoding('utf8').on('data', (text: string) => {
        texts.both += text
        if (stream === 'stdout') texts.stdout += text
      })
    }
    const ended = once(child, 'close').then(([code]) => code as number | null)
    const signal = (name: NodeJS.Signals) => {
      if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid as number), name)
    }
    const kill9 = async () => {
      signal('SIGKILL')
      await ended
    }
    onCleanup(kill9)
    return { stdout: () => texts.stdout, printed: () => texts.both, ended, interrupt: () => signal('SIGINT'), kill9 }
  }
}
