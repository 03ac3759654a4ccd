// The engine under test: the real `perdure serve`, in its own process, on its own database.

import { type ChildProcess, spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { endChild, keep } from './child.ts'
import type { Database } from './store.ts'

const CLI = fileURLToPath(new URL('../../packages/cli/bin/perdure.js', import.meta.url))
const PROFILE_THREADS = fileURLToPath(new URL('./profile-threads.cjs', import.meta.url))
const READY_WITHIN_MS = 60_000

export interface EngineOptions {
  database: Database
  /** Directory for CPU profiles; without it none are written. */
  profileDir: string | undefined
  /** Additional settings of the engine. */
  env: Readonly<Record<string, string>>
  /** Additional flags for the engine's Node. */
  nodeFlags: readonly string[]
}

let started = 0

export class EngineProcess {
  readonly port: number
  readonly origin: string
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.port = port
    this.origin = `http://127.0.0.1:${port}`
  }

  /** Resolves when `/readyz` answers 200. */
  static async start({ database, profileDir, env, nodeFlags }: EngineOptions, port?: number): Promise<EngineProcess> {
    const onPort = port ?? (await freePort())
    const store = database.url ?? `sqlite:${database.file}`
    const args = [...nodeFlags, ...profilerFlags(profileDir), CLI, 'serve', '--port', String(onPort), '--store', store]
    const child = spawn(process.execPath, args, {
      env: { ...environment(profileDir), ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const engine = new EngineProcess(keep(child), onPort)
    await engine.#ready()
    return engine
  }

  get pid(): number {
    return this.#child.pid as number
  }

  /** SIGTERM drains the engine and writes profiles; SIGKILL is a crash. */
  stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    return endChild(this.#child, signal)
  }

  async #ready(): Promise<void> {
    const giveUpAt = performance.now() + READY_WITHIN_MS
    const isReady = async () => {
      const response = await fetch(`${this.origin}/readyz`).catch(() => undefined)
      await response?.text()
      return response?.ok ?? false
    }
    while (!(await isReady())) {
      if (this.#child.exitCode !== null) throw new Error('the engine ended before it was ready')
      if (performance.now() > giveUpAt) throw new Error('the engine did not become ready')
      await pause(5)
    }
  }
}

/** Returns a TCP port on which nothing listens right now. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

/** Returns flags that profile the main thread and, through the preload, every other thread. */
function profilerFlags(dir: string | undefined): string[] {
  if (dir === undefined) return []
  const name = `main-${++started}.cpuprofile`
  return ['--cpu-prof', `--cpu-prof-dir=${dir}`, `--cpu-prof-name=${name}`, '--require', PROFILE_THREADS]
}

/** Returns the environment of the bench without any engine settings. */
function environment(profileDir: string | undefined): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('ENGINE_'))
  return {
    ...Object.fromEntries(own),
    ENGINE_LOG_LEVEL: 'warn',
    PERDURE_BENCH_PROFILE_DIR: profileDir,
  }
}
