// Fills a store with finished and sleeping runs, as after a busy month. Written without the engine, which must not be
// running.

import { openPostgresStore } from '../../packages/engine/src/adapters/sql/postgres/store.ts'
import { openSqliteStore } from '../../packages/engine/src/adapters/sql/sqlite/store.ts'
import type { Change } from '../../packages/engine/src/domain/model/change.ts'
import type { Run, RunStatus } from '../../packages/engine/src/domain/model/run.ts'
import { derivedId } from '../../packages/engine/src/domain/text/ids.ts'
import { seeded } from '../../test/kit/seeded.ts'

const NAMESPACE = 'default'
const APPS = 10
const WORKFLOWS = 20
const PER_UNIT = 2000
/** One run every 2.6 s: a million in a month. */
const APART_MS = 2600
const FIRST_AT = Date.UTC(2030, 0, 1)

export interface Sample {
  /** An event that started two runs. */
  eventId: string
  /** A run that was replayed. */
  replayedId: string
  /** The newest hundredth of the runs was created at or after this time. */
  recentFrom: number
  /** The newest was created before this time, and all ended before it. */
  until: number
}

/** Writes the runs, and counts their ends into the roll-ups. */
export async function insertRuns(database: { file: string; url?: string | undefined }, count: number): Promise<Sample> {
  const { file, url } = database
  const store = await (url === undefined ? openSqliteStore({ file }) : openPostgresStore({ url }))
  const random = seeded(1)
  let eventId = ''
  let replayedId = ''
  let previous: Run | undefined
  let changes: Change[] = []
  for (let i = 0; i < count; i++) {
    const run = listedRun(i, random.next, previous)
    changes.push({ type: 'run.created', run })
    if (run.eventId !== undefined && i <= count / 2) eventId = run.eventId
    if (run.replayOf !== undefined && i <= count / 2) replayedId = run.replayOf
    previous = run
    if (changes.length < PER_UNIT && i + 1 < count) continue
    await store.commit({ guards: [], changes })
    changes = []
  }
  const until = FIRST_AT + (count + 1000) * APART_MS
  while ((await store.countEnds({ before: until, limit: PER_UNIT })) === PER_UNIT);
  await store.close()
  return { eventId, replayedId, recentFrom: FIRST_AT + Math.floor(count * 0.99) * APART_MS, until }
}

function listedRun(i: number, random: () => number, previous: Run | undefined): Run {
  const createdAt = FIRST_AT + i * APART_MS
  const status = statusOf(random())
  const isCron = random() < 0.05
  const isFork = !isCron && previous !== undefined && random() < 0.01
  // Some apps and workflows are much busier than others.
  const app = `app-${Math.floor(random() ** 2 * APPS)}`
  const workflow = `workflow-${Math.floor(random() ** 2 * WORKFLOWS)}`
  const origin = isCron
    ? { cron: '* * * * *' }
    : {
        eventName: 'order/created',
        ...(isFork ? { replayOf: previous.id } : { eventId: derivedId('evt', createdAt, String(i >> 1)) }),
      }
  return {
    namespace: NAMESPACE,
    id: derivedId('run', createdAt, String(i)),
    workflow,
    app,
    status,
    triggerKind: isCron ? 'cron' : 'event',
    trigger: { name: 'order/created' },
    input: JSON.stringify({ orderId: i, customer: `customer-${i % 1000}`, lines: ['one', 'two', 'three'] }),
    attempt: 1,
    transportTries: 0,
    createdAt,
    startedAt: createdAt + 5,
    startedSeq: 2,
    fence: 1,
    ...origin,
    ...(status === 'waiting'
      ? { waitingFor: { kind: 'event', eventName: 'never' } }
      : { finishedAt: createdAt + 5 + Math.floor(20 * Math.exp(6 * random())), finishedSeq: 9 }),
    ...(status === 'succeeded' ? { result: JSON.stringify({ done: true, order: i }) } : {}),
    ...(status === 'failed' ? { error: { message: 'the card was refused', code: 'step_failed' } } : {}),
  }
}

function statusOf(chance: number): RunStatus {
  if (chance < 0.9) return 'succeeded'
  if (chance < 0.95) return 'failed'
  return chance < 0.97 ? 'cancelled' : 'waiting'
}
