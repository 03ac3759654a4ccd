// TURNS: the cost of passing on a slot when 100,000 runs wait for it, with 10,000 fairness keys, with one, and with none. It
// measures only the store, on a SQLite file or in a schema of a PostgreSQL database.

import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Holds } from '../../packages/engine/src/domain/model/flow-control.ts'
import type { Run } from '../../packages/engine/src/domain/model/run.ts'
import { derivedId } from '../../packages/engine/src/domain/text/ids.ts'
import { timed } from '../measure/latency.ts'
import type { Figures, Outcome } from '../report/report.ts'
import type { BenchOptions } from '../rig/options.ts'
import { commitAll, databaseName, openSchema, openStore, queuedRun } from '../rig/store.ts'

const NOW = Date.UTC(2030, 0, 1)
const DAY_MS = 86_400_000
const SAMPLES = 300
const HELD = 100_000
const KEYS = 10_000

export async function turns(options: BenchOptions): Promise<Outcome> {
  const folder = mkdtempSync(join(options.dir, 'perdure-turns-'))
  const schema = options.store === undefined ? undefined : await openSchema(options.store)
  const store = await openStore({ file: join(folder, 'engine.db'), url: schema?.url })
  const figures: Record<string, Figures> = {}
  const problems: string[] = []
  let now = NOW
  const claim = async () => {
    const claimed = await store.claimRuns({ owner: 'bench', now, leaseUntil: now + 1000 * DAY_MS, limit: 100 })
    return claimed.map(({ run }) => run)
  }
  try {
    for (const keys of [0, 1, KEYS]) {
      const slots = [{ id: `slot of ${keys}`, limit: 1 }]
      const holds = (n: number): Holds =>
        keys === 0 ? { slots } : { slots, fairness: { key: `key ${n % keys}`, weight: 1 + (n % 3) } }
      for (let made = 0; made < HELD; made += 10_000) {
        const runs = Array.from({ length: 10_000 }, (_, i) => aRun(`${keys} ${made + i}`, holds(made + i)))
        await commitAll(
          store,
          runs.map(run => ({ type: 'run.created' as const, run })),
        )
      }
      const began = performance.now()
      // The first run gets the slot, and all others join its queue.
      let [holder] = await claim()
      while ((await store.nextAvailableAt('runs')) === NOW) holder = (await claim())[0] ?? holder
      const joinedMs = performance.now() - began
      const before = async () => {
        now++
        const { leaseOwner: _, availableAt: __, ...rest } = holder as Run
        const run: Run = {
          ...rest,
          status: 'succeeded',
          startedAt: NOW,
          startedSeq: 2,
          finishedAt: now,
          finishedSeq: 9,
        }
        const freed = { type: 'slots.freed' as const, slotIds: slots.map(({ id }) => id), at: now }
        await commitAll(store, [{ type: 'run.moved', run: { ...run, fence: run.fence + 1 }, frames: [] }, freed])
      }
      const claimNext = async () => {
        const claimed = await claim()
        if (claimed.length !== 1) problems.push(`${claimed.length} runs were claimed, not 1`)
        holder = claimed[0] ?? holder
      }
      const next = await timed(claimNext, { samples: SAMPLES, before })
      figures[keys === 0 ? 'without keys' : `${keys.toLocaleString('en-US')} keys`] = {
        'next run p50 ms': next.p50,
        'p99 ms': next.p99,
        'joined per s': Math.round((HELD / joinedMs) * 1000),
      }
      now = NOW
    }
  } finally {
    await store.close()
    await schema?.drop()
    rmSync(folder, { recursive: true })
  }
  const title = `claims beside ${HELD.toLocaleString('en-US')} runs that wait for a slot, on ${databaseName(options)}`
  return { title, figures, problems }
}

function aRun(name: string, holds: Holds): Run {
  const id = derivedId('run', NOW, name)
  return { ...queuedRun({ id, createdAt: NOW, workflow: 'held', app: 'app', input: '{}' }), availableAt: NOW, holds }
}
