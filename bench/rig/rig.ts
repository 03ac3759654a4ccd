// The setup of a workload: a fresh directory, a database in it that can be filled first, an engine on it, and a runner.

import { cpSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Store } from '../../packages/engine/src/ports/store.ts'
import { EngineProcess } from '../../test/kit/engine/engine-process.ts'
import { keyOf } from '../load/api.ts'
import { residentBytes } from '../measure/proc.ts'
import { readProfiles, type ThreadProfile, type TimeSpan } from '../measure/profile.ts'
import type { BenchOptions, Over, RunnerKind } from './options.ts'
import { Runner } from './runner.ts'
import { type Database, openSchema, openStore, vacuum } from './store.ts'

const PERDURE = fileURLToPath(new URL('../../packages/cli/bin/perdure.js', import.meta.url))
const PROFILE_THREADS = fileURLToPath(new URL('./profile-threads.cjs', import.meta.url))

interface Setup {
  over?: Over
  /** Default: the bench's own. A rig with `none` has no runner. */
  kind?: RunnerKind | 'none'
  /** Namespaces of the engine, each with a key that `Api` sends. The runner is in the first one. */
  namespaces?: readonly string[]
  /** Fills the store before the engine starts. Afterwards PostgreSQL is in the state after an autovacuum. */
  fill?(store: Store): Promise<unknown>
}

/** Opens a rig, measures on it, and closes it. Profiles of the engine are added to the outcome. */
export async function onRig<T extends object>(
  options: BenchOptions,
  setup: Setup,
  measure: (rig: Rig) => Promise<T>,
): Promise<T & { profiles: ThreadProfile[] }> {
  const rig = new Rig(options, setup)
  try {
    await rig.open()
    const outcome = await measure(rig)
    return { ...outcome, profiles: await rig.stopEngines() }
  } finally {
    await rig.close()
  }
}

export class Rig {
  readonly options: BenchOptions
  readonly #setup: Setup
  readonly #dir: string
  readonly #spans: TimeSpan[] = []
  readonly #database: Database
  /** All use the same database; most workloads mean the first one. */
  #engines: EngineProcess[] = []
  #runner: Runner | undefined
  #schema: { drop(): Promise<void> } | undefined
  #profiles: ThreadProfile[] | undefined

  constructor(options: BenchOptions, setup: Setup) {
    this.options = options
    this.#setup = setup
    this.#dir = mkdtempSync(join(options.dir, 'perdure-bench-'))
    this.#database = { file: join(this.#dir, 'engine.db') }
  }

  async open(): Promise<void> {
    const { store: address, engines } = this.options
    const { fill, kind = 'bare' } = this.#setup
    const database = this.#database
    if (address !== undefined) {
      const schema = await openSchema(address)
      this.#schema = schema
      database.url = schema.url
    }
    if (fill !== undefined) {
      const store = await openStore(database)
      await fill(store).finally(() => store.close())
      if (database.url !== undefined) await vacuum(database.url)
    }
    while (this.#engines.length < engines) this.#engines.push(await this.#startEngine())
    if (kind !== 'none') {
      this.#runner = await Runner.start(kind)
      await this.#attach()
    }
    // The other engines learn of the registration within a second.
    if (engines > 1) await pause(1500)
  }

  get engine(): EngineProcess {
    return this.#engines[0] as EngineProcess
  }

  get runner(): Runner {
    return this.#runner as Runner
  }

  /** Returns the addresses of all engines. */
  get origins(): string[] {
    return this.#engines.map(({ url }) => url)
  }

  /** Returns the namespace of the runner, if the rig names any. */
  get namespace(): string | undefined {
    return this.#setup.namespaces?.[0]
  }

  /** Returns the size of the SQLite file and its write-ahead log in bytes. */
  get diskBytes(): number {
    const size = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0
    const { file } = this.#database
    return size(file) + size(`${file}-wal`)
  }

  /** Returns the resident memory of the engine. */
  get residentBytes(): number {
    return residentBytes(this.engine.pid) ?? Number.NaN
  }

  /** Returns the processes of a workload, for the CPU meters. */
  get pids(): Record<string, number> {
    const pids = this.#engines.map(({ pid }, i): [string, number] => [i === 0 ? 'engine' : `engine ${i + 1}`, pid])
    if (this.#runner !== undefined) pids.push(['runner', this.#runner.pid])
    return { ...Object.fromEntries(pids), load: process.pid }
  }

  /** Marks a span; profiles only count samples inside such spans. */
  profileSpan({ fromUs, toUs }: TimeSpan): void {
    this.#spans.push({ fromUs, toUs })
  }

  /** Stops the engines, so that ceilings can be measured without them, and returns their profiles. */
  async stopEngines(): Promise<ThreadProfile[]> {
    if (this.#profiles !== undefined) return this.#profiles
    this.#runner?.detach()
    await Promise.all(this.#engines.map(engine => engine.sigterm()))
    const { profile, profileDir } = this.options
    if (profile && profileDir !== undefined) {
      const filter = (path: string) => path === this.#dir || path.endsWith('.cpuprofile')
      cpSync(this.#dir, join(profileDir, basename(this.#dir)), { recursive: true, filter })
    }
    this.#profiles = profile ? readProfiles(this.#dir, this.#spans) : []
    return this.#profiles
  }

  async close(): Promise<void> {
    await Promise.all(this.#engines.map(engine => engine.kill9()))
    await this.#runner?.stop()
    await this.#schema?.drop()
    rmSync(this.#dir, { recursive: true, force: true })
  }

  /** Starts the real `perdure serve`. Profiles have its main thread and, through the preload, every other thread. */
  async #startEngine(): Promise<EngineProcess> {
    const { nodeFlags, profile } = this.options
    const { namespaces } = this.#setup
    const name = `--cpu-prof-name=main-${this.#engines.length + 1}.cpuprofile`
    const profiler = ['--cpu-prof', `--cpu-prof-dir=${this.#dir}`, name, '--require', PROFILE_THREADS]
    const keys = namespaces?.map(name => ({ label: name, namespace: name, kind: 'secret', key: keyOf(name) }))
    const engine = await new EngineProcess({
      program: [process.execPath, ...nodeFlags, ...(profile ? profiler : []), PERDURE],
      storeFile: this.#database.url ?? this.#database.file,
      env: { PERDURE_BENCH_PROFILE_DIR: this.#dir, ...(keys && { ENGINE_API_KEYS: JSON.stringify(keys) }) },
    }).start()
    void engine.exit.then(({ stderr }) => process.stderr.write(stderr))
    return engine
  }

  /** Registers the runner. It opens a socket to each engine, like a fleet of runners behind a load balancer. */
  async #attach(): Promise<void> {
    const { over = 'http' } = this.#setup
    const apiKey = this.namespace === undefined ? undefined : keyOf(this.namespace)
    for (const origin of over === 'http' ? this.origins.slice(0, 1) : this.origins)
      await this.runner.attach(origin, { over, apiKey })
  }
}
