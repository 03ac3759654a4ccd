// Starts the engine and the runners of an example as processes of their own, and stops them again, by pid.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const START_MS_MAX = 20_000
const STOP_MS_MAX = 10_000
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PERDURE = fileURLToPath(new URL('../../packages/cli/bin/perdure.js', import.meta.url))

export type Environment = Readonly<Record<string, string>>

export interface Started {
  stop(): Promise<void>
}

export interface StartedEngine extends Started {
  readonly url: string
  /** The SQLite database. */
  readonly storeFile: string
  /** Stops the engine, waits for what `meanwhile` does, and starts it again on the same file and port. */
  restart(meanwhile: () => Promise<void>): Promise<void>
}

/** An engine on a fresh SQLite file, on a free port. */
export async function startEngine(env: Environment = {}): Promise<StartedEngine> {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-example-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  const storeFile = join(folder, 'engine.db')
  const serve = async (port: string) => {
    const args = [PERDURE, 'serve', '--port', port, '--store', `sqlite:${storeFile}`, '--log-level', 'warn']
    // The webhooks of the examples go to this machine, which an engine refuses unless told otherwise.
    const child = start(args, { ENGINE_WEBHOOK_ALLOW: '127.0.0.1', ...env })
    return { child, url: await said(child, /listens on (http:\S+)/) }
  }
  let { child, url } = await serve('0')
  return {
    url,
    storeFile,
    async restart(meanwhile) {
      await stop(child)
      await meanwhile()
      child = (await serve(new URL(url).port)).child
    },
    async stop() {
      await stop(child)
      process.removeListener('exit', remove)
      remove()
    },
  }
}

/** Runs a script as a process of its own; resolves when it says that it serves its app. */
export async function startRunner(script: URL, env: Environment): Promise<Started> {
  const child = start(['--import', 'tsx', fileURLToPath(script)], env)
  await said(child, /^runner of app (.*)/)
  return { stop: () => stop(child) }
}

function start(args: string[], env: Environment): ChildProcess {
  const clean = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('ENGINE_')),
  )
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...clean, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  // Whatever becomes of this process, it leaves none behind.
  const end = () => child.kill('SIGKILL')
  process.once('exit', end)
  child.once('exit', () => process.removeListener('exit', end))
  return child
}

/** Waits for a line that matches, showing every line of the process; answers the match. */
async function said(child: ChildProcess, pattern: RegExp): Promise<string> {
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
