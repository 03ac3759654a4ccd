// Starts the engine and the runner as processes of their own, and stops them again, by pid.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const START_MS_MAX = 20_000
const STOP_MS_MAX = 10_000

export interface Started {
  stop(): Promise<void>
}

/** An engine on a fresh SQLite file, on a free port. */
export async function startEngine(): Promise<Started & { url: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'perdure-demo-'))
  const command = fileURLToPath(new URL('../../packages/cli/bin/perdure.js', import.meta.url))
  const store = `sqlite:${join(folder, 'engine.db')}`
  const child = start([command, 'serve', '--port', '0', '--store', store, '--log-level', 'warn'], {
    // The demo's webhook goes to this machine, which an engine refuses unless told otherwise.
    ENGINE_WEBHOOK_ALLOW_PRIVATE: '1',
  })
  const url = await said(child, /listens on (http:\S+)/)
  const remove = async () => {
    await stop(child)
    await rm(folder, { recursive: true, force: true })
  }
  return { url, stop: remove }
}

/** The runner of `runner.ts`, registered with the engine. */
export async function startRunner(engineUrl: string): Promise<Started> {
  const script = fileURLToPath(new URL('./runner.ts', import.meta.url))
  const child = start(['--import', 'tsx', script], { ENGINE_URL: engineUrl })
  await said(child, /listens on (http:\S+)/)
  return { stop: () => stop(child) }
}

function start(args: string[], env: Record<string, string>): ChildProcess {
  const clean = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('ENGINE_')),
  )
  const root = fileURLToPath(new URL('../..', import.meta.url))
  return spawn(process.execPath, args, {
    cwd: root,
    env: { ...clean, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/** Waits for a line that matches, and shows every line until then; answers the match. */
async function said(child: ChildProcess, pattern: RegExp): Promise<string> {
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`Not started within ${START_MS_MAX} ms.`)), START_MS_MAX)
    child.once('exit', code => reject(new Error(`Ended at once, with code ${code}.`)))
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
