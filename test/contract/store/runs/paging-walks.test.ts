// Walks through the list of runs while the store changes. A walk meets every run that existed throughout and did not move in its
// order exactly once. A failure prints its seed.

import { RUN_STATUSES } from '@perdure/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openSqliteStore } from '../../../../packages/engine/src/adapters/sql/sqlite/store.ts'
import { isTerminal, type Run, type RunFilter } from '../../../../packages/engine/src/domain/model/run.ts'
import { positionOf, sortKey } from '../../../../packages/engine/src/domain/view/run-order.ts'
import type { Store } from '../../../../packages/engine/src/ports/store.ts'
import type { RunQuery } from '../../../../packages/engine/src/ports/store-reads.ts'
import { type Seeded, seeded } from '../../../kit/seeded.ts'
import { tempStoreFile } from '../../../kit/temp.ts'
import { aRun, created, moved, NOW, NS, write } from '../samples.ts'
import { DIRS, matches, SORTS, sorted } from './run-model.ts'

const WALKS = 200
const STOCK = 300
const SEED = 20_310_520

let store: Store
/** The committed contents of the store. */
const runs = new Map<string, Run>()
/** Runs that changed since the walk began, as they were then. */
const before = new Map<string, Run>()
let now = NOW

beforeAll(async () => {
  store = await openSqliteStore({ file: tempStoreFile() })
  const random = seeded(SEED)
  for (let i = 0; i < STOCK; i++) await arrive(random)
})
afterAll(() => store.close())

it(`${WALKS} walks under inserts and changes skip nothing and repeat nothing`, async () => {
  let met = 0
  for (let walk = 0; walk < WALKS; walk++) met += await walkOnce(seeded(SEED + walk), `seed ${SEED + walk}`)
  // The filters match some of the runs.
  expect(met).toBeGreaterThan(WALKS * 10)
})

/** Returns how many runs the walk had to meet. */
async function walkOnce(random: Seeded, label: string): Promise<number> {
  const pick = <T>(values: readonly T[]): T => values[random.between(0, values.length - 1)] as T
  const order = { sort: pick(SORTS), dir: pick(DIRS) }
  const filter = randomFilter(random, pick)
  before.clear()
  const atStart = [...runs.values()]
  const found = await walkThrough(random, { ...filter, ...order })
  const what = `${label} ${JSON.stringify({ ...filter, ...order })}`
  const stayed = atStart.filter(run => stays(run, order.sort, filter))
  const expected = sorted(stayed, order.sort, order.dir).map(({ id }) => id)
  const wanted = new Set(expected)
  expect(
    found.filter(id => wanted.has(id)),
    what,
  ).toEqual(expected)
  return expected.length
}

/** Reads pages of random sizes while runs arrive and change. */
async function walkThrough(random: Seeded, query: Omit<RunQuery, 'limit'>): Promise<string[]> {
  const found: string[] = []
  let after: RunQuery['after']
  for (;;) {
    const limit = random.between(20, 200)
    const [page] = await Promise.all([store.in(NS).runs({ ...query, limit, after }), disturb(random)])
    found.push(...page.map(({ id }) => id))
    const last = page.at(-1)
    if (page.length < limit || !last) return found
    after = positionOf(last, query.sort ?? 'started')
  }
}

/** Whether the run matched and kept its place in the order from the beginning of the walk to its end. */
function stays(run: Run, sort: (typeof SORTS)[number], filter: RunFilter): boolean {
  const changed = before.get(run.id)
  const after = runs.get(run.id) as Run
  if (!changed) return matches(run, filter)
  return sortKey(run, sort) === sortKey(after, sort) && matches(run, filter) && matches(after, filter)
}

async function disturb(random: Seeded): Promise<void> {
  await Promise.all([arrive(random), change(random), change(random)])
}

async function arrive(random: Seeded): Promise<void> {
  const pick = <T>(values: readonly T[]): T => values[random.between(0, values.length - 1)] as T
  // Some arrive with a time in the past, as after a slow commit.
  now += random.between(0, 2)
  const run = aRun({
    createdAt: now - random.between(0, 1),
    app: pick(['shop', 'mail', 'store']),
    workflow: pick(['order', 'refund', 'restock']),
    ...(random.next() < 0.2 ? { triggerKind: 'cron' as const } : {}),
    ...(random.next() < 0.2 ? { eventId: pick(['evt_1', 'evt_2']) } : {}),
    ...(random.next() < 0.2 ? { replayOf: pick(['run_1', 'run_2']) } : {}),
  })
  await write(store, created(run))
  runs.set(run.id, run)
}

/** Moves a run that has not ended, at most once per walk, because the model knows only two states of a run. */
async function change(random: Seeded): Promise<void> {
  const open = [...runs.values()].filter(run => !isTerminal(run.status) && !before.has(run.id))
  const run = open[random.between(0, open.length - 1)]
  if (!run) return
  const status = RUN_STATUSES[random.between(0, RUN_STATUSES.length - 1)] as Run['status']
  const ended = {
    startedAt: now,
    finishedAt: now + random.between(0, 3),
    finishedSeq: 9,
    availableAt: undefined,
  }
  const next: Run = { ...run, status, ...(isTerminal(status) ? ended : {}) }
  before.set(run.id, run)
  runs.set(run.id, next)
  await write(store, moved(next))
}

function randomFilter(random: Seeded, pick: <T>(values: readonly T[]) => T): RunFilter {
  const some = <T>(values: readonly T[]) => (random.next() < 0.25 ? pick(values) : undefined)
  return {
    app: some(['shop', 'mail']),
    status: some([...RUN_STATUSES.map(status => [status]), ['failed', 'queued']]),
    until: some([NOW + 150, NOW + 400]),
    runType: some(['event', 'cron']),
    since: some([NOW, NOW + 100, NOW + 200]),
    eventId: random.next() < 0.1 ? 'evt_1' : undefined,
    replayOf: random.next() < 0.1 ? 'run_1' : undefined,
    ...(random.next() < 0.25 ? { q: pick(['ORDER', 'st', '0']), deep: random.next() < 0.3 } : {}),
  }
}
