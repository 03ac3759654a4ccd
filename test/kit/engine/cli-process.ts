// The real `perdure` command, as its own process.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onCleanup } from '../cleanup.ts'
import { within } from '../until.ts'
import type { Exit } from './engine-process.ts'

const PERDURE = fileURLToPath(new URL('../../../packages/cli/bin/perdure.js', import.meta.url))

export interface CliOptions {
  env?: Record<string, string>
  stdin?: string
  /** Something done again and again until the process has ended. */
  onOpen?: () => NodeJS.Timeout
  /** Called with everything that stdout has said so far, whenever it says more. */
  onOutput?: (stdout: string, process: CliProcess) => unknown
  /** The same of stderr. */
  onError?: (stderr: string, process: CliProcess) => unknown
}

export interface CliProcess {
  /** Sends SIGINT, however often it is called: a second one would kill. */
  interrupt(): void
  /** Reads no more of its output, like `head`. */
  stopReading(): void
}

/** Runs one command line to its end. */
export async function perdure(args: readonly string[], options: CliOptions = {}): Promise<Exit> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('ENGINE_'))
  const child = spawn(process.execPath, [PERDURE, ...args], {
    env: { ...Object.fromEntries(inherited), ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  // A test that fails before the end of its command does not leave it behind.
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
  // A command that reads no input may be gone before it is written.
  child.stdin.on('error', () => {})
  child.stdin.end(options.stdin ?? '')
  const closed = once(child, 'close').then(([code, signal]): Exit => ({ code, signal, stdout, stderr }))
  return within(closed, `the end of perdure ${args.join(' ')}`, 20_000).finally(() => {
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

/** The JSON lines of a command that must go well, and say nothing else. */
export async function linesOf<T>(
  cli: (args: readonly string[]) => Promise<Exit>,
  args: readonly string[],
): Promise<T[]> {
  const { code, stdout, stderr } = await cli([...args, '--json'])
  if (code !== 0 || stderr !== '') throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`)
  return jsonLines(stdout)
}
