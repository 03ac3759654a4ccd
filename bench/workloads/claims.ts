// CLAIMS: the cost of a claim beside a thousand and a million sleeping runs. It measures the store alone, without an
// engine: on a SQLite file, or in a schema of a PostgreSQL database.

import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openPostgresStore } from '../../packages/engine/src/adapters/sql/postgres/store.ts'
import { openSqliteStore } from '../../packages/engine/src/adapters/sql/sqlite/store.ts'
import type { Run } from '../../packages/engine/src/domain/model/run.ts'
import { derivedId } from '../../packages/engine/src/domain/text/ids.ts'
import type { Store } from '../../packages/engine/src/ports/store.ts'
import { percentiles } from '../measure/latency.ts'
import type { Figures, Result } from '../report/report.ts'
import type { BenchOptions } from '../rig/options.ts'
import { openSchema } from '../rig/schema.ts'

const NOW = Date.UTC(2030, 0, 1)
const DAY_MS = 86_400_000
const PER_UNIT = 500
const UNITS_UNDER_WAY = 4
const SAMPLES = 30
const CLAIMED = 100
const SIZES = [1000, 10_000, 100_000, 1_000_000]

export async function claims(options: BenchOptions): Promise<Result[]> {
  const { store, close } = await open(options)
  const figures: Record<string, Figures> = {}
  const problems: string[] = []
  try {
    const parked = new Parked(store)
    for (const size of SIZES.filter(size => size <= options.listed)) {
      await parked.sleepers(size)
      const [none, due, next] = [
        await timed(() => parked.claim(0, problems)),
        await timed(
          () => parked.claim(CLAIMED, problems),
          () => parked.due(CLAIMED),
        ),
        await timed(() => store.nextAvailableAt('runs')),
      ]
      figures[`${size.toLocaleString('en-US')} asleep`] = {
        'none due p50 ms': none.p50,
        [`${CLAIMED} due p50 ms`]: due.p50,
        'p99 ms': due.p99,
        'the next one p50 ms': next.p50,
      }
    }
  } finally {
    await close()
  }
  const title = `claims beside runs that sleep, on ${options.store ? 'PostgreSQL' : 'SQLite'}`
  return [{ workload: 'CLAIMS', title, figures, notes: [], problems, profiles: [] }]
}

async function open({ store: address, dir }: BenchOptions): Promise<{ store: Store; close(): Promise<void> }> {
  if (address !== undefined) {
    const schema = await openSchema(address)
    const store = await openPostgresStore({ url: schema.url })
    return { store, close: () => store.close().then(() => schema.drop()) }
  }
  const folder = mkdtempSync(join(dir, 'perdure-claims-'))
  const store = await openSqliteStore({ file: join(folder, 'engine.db') })
  const close = async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  }
  return { store, close }
}

class Parked {
  readonly #store: Store
  #count = 0

  constructor(store: Store) {
    this.#store = store
  }

  /** Adds runs until there are this many, each asleep until its own time, days from now. */
  async sleepers(count: number): Promise<void> {
    while (this.#count < count) {
      const units = Array.from({ length: UNITS_UNDER_WAY }, () => {
        const size = Math.max(0, Math.min(PER_UNIT, count - this.#count))
        return this.#create(size, n => ({
          status: 'waiting',
          startedAt: NOW,
          startedSeq: 2,
          availableAt: NOW + DAY_MS + n * 100,
        }))
      })
      await Promise.all(units)
    }
  }

  due(count: number): Promise<void> {
    return this.#create(count, () => ({ availableAt: NOW }))
  }

  /** Claimed runs are leased for longer than the measurement takes. */
  async claim(expected: number, problems: string[]): Promise<void> {
    const claim = { owner: 'bench', now: NOW, leaseUntil: NOW + 1000 * DAY_MS, limit: CLAIMED }
    const claimed = await this.#store.claimRuns(claim)
    if (claimed.length !== expected) problems.push(`${claimed.length} runs were claimed, not ${expected}`)
  }

  async #create(count: number, fields: (n: number) => Partial<Run>): Promise<void> {
    const changes = Array.from({ length: count }, () => {
      const n = ++this.#count
      return { type: 'run.created' as const, run: { ...aRun(n), ...fields(n) } }
    })
    if (changes.length > 0) await this.#store.commit({ guards: [], changes })
  }
}

function aRun(n: number): Run {
  return {
    namespace: 'default',
    id: derivedId('run', NOW + n, String(n)),
    workflow: `workflow-${n % 20}`,
    app: `app-${n % 10}`,
    status: 'queued',
    triggerKind: 'event',
    trigger: { name: 'order/created' },
    input: JSON.stringify({ orderId: n }),
    attempt: 1,
    transportTries: 0,
    createdAt: NOW,
    fence: 1,
  }
}

async function timed(work: () => Promise<unknown>, before = async () => {}): Promise<{ p50: number; p99: number }> {
  const times: number[] = []
  for (let i = 0; i < SAMPLES; i++) {
    await before()
    const from = performance.now()
    await work()
    times.push(performance.now() - from)
  }
  return percentiles(times)
}
