// Fills a new SQLite store with runs of the last 30 days by one prepared insert, before an engine opens it: driving a million runs
// would take an hour. The ends of many runs are counted for statistics, as an engine counts them while runs end.

import type { Value } from '../../../packages/engine/src/adapters/sql/description/values.ts'
import { Connection } from '../../../packages/engine/src/adapters/sql/sqlite/connection.ts'
import { openSqliteStore } from '../../../packages/engine/src/adapters/sql/sqlite/store.ts'
import { RUNS } from '../../../packages/engine/src/adapters/sql/tables/runs.ts'
import type { Run, RunStatus } from '../../../packages/engine/src/domain/model/run.ts'
import { derivedId } from '../../../packages/engine/src/domain/text/ids.ts'
import { tempStoreFile } from '../temp.ts'

const WINDOW_MS = 30 * 86_400_000
/** A larger transaction would make the log of the database grow. */
const PER_TRANSACTION = 10_000
/** Statistics look at every end that is not counted yet: a read of a million takes ten seconds, a read of this many a moment. */
const UNCOUNTED_MAX = 50_000
/** Ends that are counted in one batch. With batches of 10,000, a million took twice as long. */
const PER_COUNT = 100_000

const INSERT = `INSERT INTO runs (${RUNS.columns.join(', ')}, log_position)
  VALUES (${RUNS.columns.map(() => '?').join(', ')}, 0)`

/** The fields of the run `i`, 0 being the oldest. */
export type SeededRun = Partial<Run> & { status: RunStatus }

/** Returns the file of the store. The newest run was created a moment before `now`. */
export async function seedRuns(count: number, runOf: (i: number) => SeededRun, now = Date.now()): Promise<string> {
  const file = tempStoreFile()
  // Makes the tables.
  await (await openSqliteStore({ file })).close()
  const connection = await Connection.open(file, { readOnly: false })
  const apartMs = WINDOW_MS / count
  const insert = connection.prepare(INSERT)
  for (let i = 0; i < count; i++) {
    if (i % PER_TRANSACTION === 0) connection.exec(i === 0 ? 'BEGIN' : 'COMMIT; BEGIN')
    const values: Value[] = []
    RUNS.append(values, wholeRun(runOf(i), { i, createdAt: Math.floor(now - (count - i) * apartMs) }))
    insert.run(values)
  }
  connection.exec('COMMIT')
  connection.close()
  if (count > UNCOUNTED_MAX) await countEnds(file)
  return file
}

async function countEnds(file: string): Promise<void> {
  const store = await openSqliteStore({ file })
  while ((await store.countEnds({ before: Number.MAX_SAFE_INTEGER, limit: PER_COUNT })) === PER_COUNT);
  await store.close()
}

function wholeRun(given: SeededRun, { i, createdAt }: { i: number; createdAt: number }): Run {
  const isOver = given.status === 'succeeded' || given.status === 'failed' || given.status === 'cancelled'
  return {
    namespace: 'default',
    id: derivedId('run', createdAt, String(i)),
    workflow: 'order',
    app: 'shop',
    triggerKind: 'event',
    eventName: 'order/created',
    trigger: { name: 'order/created' },
    input: JSON.stringify({ order: i }),
    attempt: 1,
    transportTries: 0,
    fence: 1,
    createdAt,
    startedAt: createdAt + 5,
    startedSeq: 2,
    ...(isOver ? { finishedAt: createdAt + 5 + (i % 900), finishedSeq: 9 } : {}),
    ...(given.status === 'waiting' ? { waitingFor: { kind: 'event', eventName: 'never' } } : {}),
    ...(given.status === 'failed' ? { error: { message: 'the card was refused', code: 'step_failed' } } : {}),
    ...given,
  }
}
