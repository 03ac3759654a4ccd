// Starts the engine and the runners of an example as separate processes, and stops them by pid. Called by example.ts and
// by the demos.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const START_MS_MAX = 60_000
const STOP_MS_MAX = 10_000
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PERDURE = fileURLToPath(new URL('../../packages/cli/bin/perdure.js', import.meta.url))

export type Environment = Readonly<Record<string, string>>

export interface StartedProcess {
  stop(): Promise<void>
}

export interface StartedEngine extends StartedProcess {
  readonly url: string
  /** Path of the SQLite database. */
  readonly storeFile: string
  /** Stops the engine, awaits `whileStopped`, and starts the engine again on the same file and port. */
  restart(whileStopped: () => Promise<void>): Promise<void>
}

/** Starts an engine on a fresh SQLite file and a free port. */
export async function startEngine(env: Environment = {}): Promise<StartedEngine> {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-example-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  const storeFile = join(folder, 'engine.db')
  const serve = async (port: string) => {
    const args = [PERDURE, 'serve', '--port', port, '--store', `sqlite:${storeFile}`, '--log-level', 'warn']
    // The examples send webhooks to this machine, which an engine refuses by default.
    const child = start(args, { ENGINE_WEBHOOK_ALLOW: '127.0.0.1', ...env })
    return { child, url: await untilPrinted(child, /listens on (http:\S+)/) }
  }
  let { child, url } = await serve('0')
  return {
    url,
    storeFile,
    async restart(whileStopped) {
      await stop(child)
      await whileStopped()
      child = (await serve(new URL(url).port)).child
    },
    async stop() {
      await stop(child)
      process.removeListener('exit', remove)
      remove()
    },
  }
}

/** Runs the script of a runner as a separate process. Resolves when the runner has printed that it is ready. */
export async function startRunner(script: URL, env: Environment): Promise<StartedProcess> {
  const child = start(['--import', 'tsx', fileURLToPath(script)], env)
  await untilPrinted(child, /^runner of app (.*)/)
  return { stop: () => stop(child) }
}

function start(args: string[], env: Environment): ChildProcess {
  const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('ENGINE_')))
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...clean, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  // The child must not outlive this process.
  const end = () => child.kill('SIGKILL')
  process.once('exit', end)
  child.once('exit', () => process.removeListener('exit', end))
  return child
}

/** Waits until the process prints a line that matches, and returns the matched group. Shows every line. */
async function untilPrinted(child: ChildProcess, pattern: RegExp): Promise<string> {
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`Not started within ${START_MS_MAX} ms.`)), START_MS_MAX)
    child.once('exit', code => {
      clearTimeout(timer)
      reject(new Error(`Ended at once, with code ${code}.`))
    })
    lines.on('line', line => {
      process.stdout.write(`  ${line}\n`)
      const match = pattern.exec(line)
      if (!match) return
      clearTimeout(timer)
      resolve(match[1] as string)
    })
  })
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX)
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
  clearTimeout(timer)
}
