// An engine in memory behind its HTTP interface, under a clock that the test moves.

import type { FastifyInstance } from 'fastify'
import pino from 'pino'
import { afterAll, onTestFinished, TestRunner } from 'vitest'
import { seededRandom } from '../../../packages/engine/src/adapters/clock/seeded-random.ts'
import { VirtualClock } from '../../../packages/engine/src/adapters/clock/virtual.ts'
import { createEngine } from '../../../packages/engine/src/compose/engine.ts'
import { type Config, readConfig } from '../../../packages/engine/src/config/config.ts'
import type { Change } from '../../../packages/engine/src/domain/model/change.ts'
import type { HttpLimits } from '../../../packages/engine/src/http/request/limits.ts'
import type { Store } from '../../../packages/engine/src/ports/store.ts'

export * from './requests.ts'
export { anEndedRun, aRun, endedRun } from './rows.ts'
export { eventually, openStream } from './stream.ts'

export interface TestApp {
  app: FastifyInstance
  store: Store
  clock: VirtualClock
  /** How many timers are set, not counting those of an idle engine. */
  timers(): number
  /** The lines logged so far. */
  logged: Record<string, unknown>[]
  /** Commits rows without notifying anyone. */
  seed(...changes: Change[]): Promise<void>
}

export interface TestAppOptions {
  config?: Partial<Config>
  limits?: Partial<HttpLimits>
  /** By default a new one in memory. */
  store?: Store
  logLevel?: string
}

/** An engine that claims nothing. It stops when the test ends, or when the file or describe ends if opened outside a test. */
export async function testApp(options: TestAppOptions = {}): Promise<TestApp> {
  const clock = new VirtualClock()
  const logged: Record<string, unknown>[] = []
  const log = pino({ level: options.logLevel ?? 'silent' }, { write: line => logged.push(JSON.parse(line)) })
  const config = { ...readConfig({ ENGINE_STORE: 'sqlite::memory:' }), ...options.config }
  const ports = { clock, random: seededRandom(1), ...(options.store ? { store: options.store } : {}) }
  const engine = await createEngine(config, log, ports, { http: options.limits ?? {} })
  if (TestRunner.getCurrentTest()) onTestFinished(() => engine.stop())
  else afterAll(() => engine.stop())
  const { app, store } = engine
  const idleTimers = clock.timerCount
  const timers = () => clock.timerCount - idleTimers
  return { app, store, clock, timers, logged, seed: (...changes) => store.commit({ guards: [], changes }) }
}

/** A fixed API key, whose text is its label. */
export function apiKey(label: string, fields: Partial<Config['apiKeys'][number]> = {}) {
  return { key: label, label, namespace: 'default', kind: 'secret', ...fields } as const
}

/** Blocks further commits of the real store until each is released. */
export function blockCommits(store: Store): (() => void)[] {
  const releases: (() => void)[] = []
  const commit = store.commit.bind(store)
  store.commit = async unit => {
    await new Promise<void>(resolve => releases.push(resolve))
    return commit(unit)
  }
  return releases
}

/** Data of the events that are recorded, as JSON texts, oldest first. */
export async function recordedData(store: Store): Promise<(string | undefined)[]> {
  const rows = await store.in('default').events({ limit: 1000 })
  return rows.map(({ event }) => event.data).reverse()
}
