// CLAIMS: the cost of a claim among a thousand and a million sleeping runs. It measures only the store, without an engine: on a
// SQLite file, or in a schema of a PostgreSQL database.

import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Run } from '../../packages/engine/src/domain/model/run.ts'
import { derivedId } from '../../packages/engine/src/domain/text/ids.ts'
import { timed } from '../measure/latency.ts'
import type { Figures, Outcome } from '../report/report.ts'
import type { BenchOptions } from '../rig/options.ts'
import { commitAll, databaseName, openSchema, openStore, queuedRun } from '../rig/store.ts'

const NOW = Date.UTC(2030, 0, 1)
const DAY_MS = 86_400_000
const SAMPLES = 30
const CLAIMED = 100
const SIZES = [1000, 10_000, 100_000, 1_000_000]

export async function claims(options: BenchOptions): Promise<Outcome> {
  const folder = mkdtempSync(join(options.dir, 'perdure-claims-'))
  const schema = options.store === undefined ? undefined : await openSchema(options.store)
  const store = await openStore({ file: join(folder, 'engine.db'), url: schema?.url })
  const figures: Record<string, Figures> = {}
  const problems: string[] = []
  let made = 0
  const create = (count: number, fields: (n: number) => Partial<Run>) => {
    const changes = Array.from({ length: Math.max(0, count) }, () => ({
      type: 'run.created' as const,
      run: aRun(++made, fields),
    }))
    return commitAll(store, changes)
  }
  /** Claimed runs are leased for longer than the measurement takes. */
  const claim = async (expected: number) => {
    const lease = { owner: 'bench', now: NOW, leaseUntil: NOW + 1000 * DAY_MS, limit: CLAIMED }
    const claimed = await store.claimRuns(lease)
    if (claimed.length !== expected) problems.push(`${claimed.length} runs were claimed, not ${expected}`)
  }
  try {
    for (const size of SIZES.filter(size => size <= options.listed)) {
      const asleep = { status: 'waiting', startedAt: NOW, startedSeq: 2 } as const
      // Each run sleeps until its own time, days from now.
      while (made < size)
        await create(Math.min(size - made, 10_000), n => ({ ...asleep, availableAt: NOW + DAY_MS + n * 100 }))
      const none = await timed(() => claim(0), { samples: SAMPLES })
      const before = () => create(CLAIMED, () => ({ availableAt: NOW }))
      const due = await timed(() => claim(CLAIMED), { samples: SAMPLES, before })
      const next = await timed(() => store.nextAvailableAt('runs'), { samples: SAMPLES })
      figures[`${size.toLocaleString('en-US')} asleep`] = {
        'none due p50 ms': none.p50,
        [`${CLAIMED} due p50 ms`]: due.p50,
        'p99 ms': due.p99,
        'the next one p50 ms': next.p50,
      }
    }
  } finally {
    await store.close()
    await schema?.drop()
    rmSync(folder, { recursive: true })
  }
  return { title: `claims beside runs that sleep, on ${databaseName(options)}`, figures, problems }
}

function aRun(n: number, fields: (n: number) => Partial<Run>): Run {
  const id = derivedId('run', NOW + n, String(n))
  const place = { workflow: `workflow-${n % 20}`, app: `app-${n % 10}`, input: JSON.stringify({ orderId: n }) }
  return { ...queuedRun({ id, createdAt: NOW, ...place }), ...fields(n) }
}
