// Runs command lines of `perdure`: each in its own process, or many in one process.

import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onCleanup } from '../cleanup.ts'
import { within } from '../until.ts'
import type { Exit } from './engine-process.ts'

const HOST = fileURLToPath(new URL('./cli-host.mjs', import.meta.url))
const PERDURE = fileURLToPath(new URL('../../../packages/cli/bin/perdure.js', import.meta.url))

export interface CliOptions {
  env?: Record<string, string>
  stdin?: string
  /** Starts an activity that repeats until the process has ended. */
  onOpen?: () => NodeJS.Timeout
  /** Called whenever stdout grows, with all of stdout so far. */
  onOutput?: (stdout: string, process: CliProcess) => unknown
  /** Called whenever stderr grows, with all of stderr so far. */
  onError?: (stderr: string, process: CliProcess) => unknown
}

interface CliProcess {
  /** Sends SIGINT once, even if called again: a second SIGINT would kill the process. */
  interrupt(): void
  /** Stops reading the output, like `head`. */
  stopReading(): void
}

/** The environment of a command line: the environment of the tests without engine settings, plus `env`. */
function environment(env: Record<string, string> = {}): Record<string, string | undefined> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('ENGINE_'))
  return { ...Object.fromEntries(inherited), ...env }
}

/**
 * One process that runs many command lines one after the other, because starting a process takes far longer than most of them.
 * Command lines that read input, or end by an interrupt, need `perdure`.
 */
export class CommandHost {
  readonly #process: ChildProcess
  readonly #exits = new Map<number, (exit: Exit) => void>()
  #count = 0

  /** `cwd`: the folder in which the command lines run. */
  constructor(cwd?: string) {
    const { NODE_OPTIONS: _, ...env } = environment()
    this.#process = fork(HOST, { env, execArgv: [], ...(cwd === undefined ? {} : { cwd }) })
    this.#process.on('message', ({ id, exit }: { id: number; exit: Exit }) => {
      this.#exits.get(id)?.(exit)
      this.#exits.delete(id)
    })
    onCleanup(() => void this.#process.kill('SIGKILL'))
  }

  run(args: readonly string[], env?: Record<string, string>): Promise<Exit> {
    const id = ++this.#count
    const exit = new Promise<Exit>(resolve => this.#exits.set(id, resolve))
    this.#process.send({ id, args, env: environment(env) })
    return within(exit, `the end of perdure ${args.join(' ')}`)
  }
}

/** Runs one command line to its end, in its own process. */
export async function perdure(args: readonly string[], options: CliOptions = {}): Promise<Exit> {
  const child = spawn(process.execPath, [PERDURE, ...args], {
    env: environment(options.env),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  // Kills the process if the test fails before the command ends.
  onCleanup(() => void child.kill('SIGKILL'))
  let interrupted = false
  const handle: CliProcess = {
    interrupt: () => {
      if (!interrupted) child.kill('SIGINT')
      interrupted = true
    },
    stopReading: () => void child.stdout.destroy(),
  }
  const going = options.onOpen?.()
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    options.onOutput?.(stdout, handle)
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
    options.onError?.(stderr, handle)
  })
  // A command that reads no input may end before the input is written.
  child.stdin.on('error', () => {})
  child.stdin.end(options.stdin ?? '')
  const closed = once(child, 'close').then(([code, signal]): Exit => ({ code, signal, stdout, stderr }))
  return within(closed, `the end of perdure ${args.join(' ')}`).finally(() => {
    clearInterval(going)
    child.kill('SIGKILL')
  })
}

/** The JSON lines of an output. */
export function jsonLines<T>(text: string): T[] {
  return text
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as T)
}

/** The JSON lines of a command that must end with code 0 and write nothing to stderr. */
export async function linesOf<T>(
  cli: (args: readonly string[]) => Promise<Exit>,
  args: readonly string[],
): Promise<T[]> {
  const { code, stdout, stderr } = await cli([...args, '--json'])
  if (code !== 0 || stderr !== '') throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`)
  return jsonLines(stdout)
}
