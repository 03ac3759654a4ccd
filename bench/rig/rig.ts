// The setup of a workload: a fresh directory, an engine on an empty database in it, and a registered runner.

import { cpSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readProfiles, type ThreadProfile, type TimeSpan } from '../measure/profile.ts'
import { type EngineOptions, EngineProcess, freePort } from './engine-process.ts'
import type { BenchOptions, Over, RunnerKind } from './options.ts'
import { Runner } from './runner.ts'
import { openSchema, vacuum } from './schema.ts'

export class Rig {
  readonly runner: Runner
  readonly #dir: string
  readonly #engineOptions: EngineOptions
  readonly #keepIn: string | undefined
  readonly #spans: TimeSpan[] = []
  #engine: EngineProcess
  /** Further engines on the same database. */
  readonly #others: EngineProcess[]
  readonly #schema: { drop(): Promise<void> } | undefined

  private constructor(parts: {
    dir: string
    engineOptions: EngineOptions
    engine: EngineProcess
    others: EngineProcess[]
    runner: Runner
    schema: { drop(): Promise<void> } | undefined
    keepIn: string | undefined
  }) {
    this.#keepIn = parts.keepIn
    this.#dir = parts.dir
    this.#engineOptions = parts.engineOptions
    this.#engine = parts.engine
    this.runner = parts.runner
    this.#others = parts.others
    this.#schema = parts.schema
  }

  static async open(options: BenchOptions, over: Over = 'http', kind: RunnerKind = 'bare'): Promise<Rig> {
    const dir = mkdtempSync(join(options.dir, 'perdure-bench-'))
    try {
      const schema = options.store === undefined ? undefined : await openSchema(options.store)
      const engineOptions: EngineOptions = {
        port: await freePort(),
        databaseFile: join(dir, 'engine.db'),
        storeUrl: schema?.url,
        nodeFlags: options.nodeFlags,
        ...(options.profile ? { profileDir: dir } : {}),
      }
      const engine = await EngineProcess.start(engineOptions)
      const others: EngineProcess[] = []
      while (others.length + 1 < options.engines)
        others.push(await EngineProcess.start({ ...engineOptions, port: await freePort() }))
      const runner = await Runner.start(kind)
      await runner.register(engine.origin, over)
      // The runner opens a socket to each engine, as a fleet of runners behind a load balancer does.
      if (over !== 'http') for (const { origin } of others) await runner.register(origin, over)
      // The other engines learn of the registration within a second.
      if (others.length > 0) await new Promise(resolve => setTimeout(resolve, 1500))
      return new Rig({ dir, engineOptions, engine, others, runner, schema, keepIn: options.profileDir })
    } catch (error) {
      rmSync(dir, { recursive: true, force: true })
      throw error
    }
  }

  get engine(): EngineProcess {
    return this.#engine
  }

  /** Addresses of all engines. */
  get origins(): string[] {
    return [this.#engine, ...this.#others].map(({ origin }) => origin)
  }

  get databaseFile(): string {
    return this.#engineOptions.databaseFile
  }

  /** Bytes of the SQLite file and its write-ahead log. */
  get diskBytes(): number {
    const size = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0
    return size(this.databaseFile) + size(`${this.databaseFile}-wal`)
  }

  /** The processes of a workload, for the CPU meters. */
  get pids(): Record<string, number> {
    const others = this.#others.map(({ pid }, i) => [`engine ${i + 2}`, pid] as const)
    return {
      engine: this.#engine.pid,
      ...Object.fromEntries(others),
      runner: this.runner.pid,
      load: process.pid,
    }
  }

  /** Marks a span; profiles count only samples inside such spans. */
  profileSpan({ fromUs, toUs }: TimeSpan): void {
    this.#spans.push({ fromUs, toUs })
  }

  /**
   * Kills the engine and starts a new process on the same database. While profiling it stops the engine in order,
   * because a crash writes no profile. `env` are more settings of the new process.
   */
  async restart(env: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.#engine.stop(this.#isProfiled ? 'SIGTERM' : 'SIGKILL')
    this.#engine = await EngineProcess.start({ ...this.#engineOptions, env })
  }

  /** Runs `work` on the database while no engine has it open. Afterwards PostgreSQL is as after its autovacuum. */
  async offline<T>(work: (database: { file: string; url?: string | undefined }) => Promise<T>): Promise<T> {
    await this.#engine.stop()
    const url = this.#engineOptions.storeUrl
    const answer = await work({ file: this.databaseFile, url })
    if (url !== undefined) await vacuum(url)
    this.#engine = await EngineProcess.start(this.#engineOptions)
    return answer
  }

  /** Stops the engine, so that ceilings are measured without it, and returns its profiles. */
  async stopEngine(): Promise<ThreadProfile[]> {
    this.runner.unregister()
    await Promise.all(this.#others.map(engine => engine.stop()))
    await this.#engine.stop()
    if (!this.#isProfiled) return []
    if (this.#keepIn !== undefined) {
      const filter = (path: string) => path === this.#dir || path.endsWith('.cpuprofile')
      cpSync(this.#dir, join(this.#keepIn, basename(this.#dir)), { recursive: true, filter })
    }
    return readProfiles(this.#dir, this.#spans)
  }

  async close(): Promise<void> {
    await Promise.all([this.#engine, ...this.#others].map(engine => engine.stop('SIGKILL')))
    await this.runner.stop()
    await this.#schema?.drop()
    rmSync(this.#dir, { recursive: true, force: true })
  }

  get #isProfiled(): boolean {
    return this.#engineOptions.profileDir !== undefined
  }
}
