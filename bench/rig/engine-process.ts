// The engine under test: the real `perdure serve`, in a process of its own, on a database of its own.

import { type ChildProcess, spawn } from 'node:child_process'
import { Agent, request } from 'node:http'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { endChild, keep } from './child.ts'

const CLI = fileURLToPath(new URL('../../packages/cli/bin/perdure.js', import.meta.url))
const PROFILE_THREADS = fileURLToPath(new URL('./profile-threads.cjs', import.meta.url))
const READY_WITHIN_MS = 60_000

export interface EngineOptions {
  port: number
  databaseFile: string
  /** A PostgreSQL database instead of the file. */
  storeUrl?: string | undefined
  /** Directory for CPU profiles; without it none are written. */
  profileDir?: string
  /** More settings of the engine. */
  env?: Readonly<Record<string, string>>
  /** More flags for the engine's Node. */
  nodeFlags?: readonly string[]
}

let started = 0

export class EngineProcess {
  readonly origin: string
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.origin = `http://127.0.0.1:${port}`
  }

  /** Resolves when `/readyz` answers 200. */
  static async start(options: EngineOptions): Promise<EngineProcess> {
    const { port, databaseFile, storeUrl, profileDir, nodeFlags = [] } = options
    const flags = [...nodeFlags, ...profilerFlags(profileDir)]
    const store = storeUrl ?? `sqlite:${databaseFile}`
    const args = [...flags, CLI, 'serve', '--port', String(port), '--store', store]
    const env = { ...environment(profileDir), ...options.env }
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
    const engine = new EngineProcess(keep(child), port)
    await engine.#ready(port)
    return engine
  }

  get pid(): number {
    return this.#child.pid as number
  }

  /** SIGTERM drains the engine and writes profiles; SIGKILL is a crash. */
  stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    return endChild(this.#child, signal)
  }

  async #ready(port: number): Promise<void> {
    const agent = new Agent({ keepAlive: true })
    const giveUpAt = performance.now() + READY_WITHIN_MS
    while ((await probe(port, agent)) !== 200) {
      if (this.#child.exitCode !== null) throw new Error('the engine ended before it was ready')
      if (performance.now() > giveUpAt) throw new Error('the engine did not become ready')
      await new Promise(resolve => setTimeout(resolve, 5))
    }
    agent.destroy()
  }
}

/** A TCP port on which nothing listens right now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

/** Flags that profile the main thread and, through the preload, every other thread. */
function profilerFlags(dir: string | undefined): string[] {
  if (dir === undefined) return []
  const name = `main-${++started}.cpuprofile`
  return ['--cpu-prof', `--cpu-prof-dir=${dir}`, `--cpu-prof-name=${name}`, '--require', PROFILE_THREADS]
}

/** The environment of the bench without engine settings that it may contain. */
function environment(profileDir: string | undefined): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('ENGINE_'))
  return {
    ...Object.fromEntries(own),
    ENGINE_LOG_LEVEL: 'warn',
    ENGINE_WEBHOOK_ALLOW_PRIVATE: '1',
    PERDURE_BENCH_PROFILE_DIR: profileDir,
  }
}

function probe(port: number, agent: Agent): Promise<number> {
  return new Promise(resolve => {
    const call = request({ host: '127.0.0.1', port, path: '/readyz', agent }, response => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
    call.on('error', () => resolve(0))
    call.end()
  })
}
