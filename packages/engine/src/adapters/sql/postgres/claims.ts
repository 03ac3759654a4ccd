// Claims, inside the writer's transaction. Runs without slots are leased by the hundred in one statement; those that need
// slots one by one, by the rules that both dialects share.

import type { Claim, DeliveryClaim } from '../../../ports/store.ts'
import { CLAIM_CHARS_MAX, charsOf, HELD_PER_CLAIM_MAX } from '../claims/claim-bounds.ts'
import { dueDeliveries } from '../claims/due-deliveries.ts'
import { leaseSlotted, SlotCounts } from '../claims/slotted-runs.ts'
import type { Row } from '../description/values.ts'
import type { ClaimedRun } from '../store/database.ts'
import { DELIVERIES } from '../tables/deliveries.ts'
import { FLOW_ROWS } from '../tables/flow-rows.ts'
import { RANKED, RUNS } from '../tables/runs.ts'
import { STEPS } from '../tables/steps.ts'
import { nameOf, rowsOf, type Session } from './client.ts'
import { runWork } from './run-work.ts'

/** Rows that one statement leases. */
const LEASED_AT_ONCE = 100

type Due = [id: string, isPlain: boolean]

/** The limit is a literal, in a statement that is planned at each use: for an unknown limit the planner may sort all due rows. */
const oldest = (limit: number) => `available_at <= $1 ORDER BY available_at LIMIT ${limit}`
/**
 * Due runs: higher priorities first, then the longest due. Each part walks an index of its own, however many other runs
 * sleep: the runs without a priority, and those of each priority, each found by one index lookup.
 */
const DUE = (limit: number) => `WITH RECURSIVE priorities (ranked) AS (
    SELECT max(priority) FROM runs WHERE ${RANKED}
    UNION ALL
    SELECT (SELECT max(priority) FROM runs WHERE ${RANKED} AND priority < ranked)
    FROM priorities WHERE ranked IS NOT NULL)
  SELECT id, is_plain FROM (
    (SELECT id, slot1 IS NULL AS is_plain, 0 AS rank, available_at FROM runs WHERE priority IS NULL AND ${oldest(limit)})
    UNION ALL
    SELECT due.* FROM priorities CROSS JOIN LATERAL (
      SELECT id, slot1 IS NULL, priority, available_at FROM runs WHERE ${RANKED} AND priority = ranked AND ${oldest(limit)}) AS due
  ) AS due ORDER BY rank DESC, available_at, id LIMIT ${limit}`
const LEASE_PLAIN = `UPDATE runs SET lease_owner = $1, fence = fence + 1, available_at = $2, start_queue = NULL
  WHERE id = ANY ($3) RETURNING ${RUNS.select}`
/** The approximate size of runs: nearly all of it is in their steps. */
const SIZES = 'SELECT run_id, sum(octet_length(data)) FROM steps WHERE run_id = ANY ($1) GROUP BY run_id'
const STEPS_OF_RUNS = `SELECT ${STEPS.select} FROM steps WHERE run_id = ANY ($1) ORDER BY run_id, idx`
const ROOT_LOGGED = `SELECT run_id, max(idx) + 1 FROM logs WHERE scope = '@root' AND run_id = ANY ($1) GROUP BY run_id`

export async function claimRuns(session: Session, claim: Claim): Promise<ClaimedRun[]> {
  const { now, limit } = claim
  const slots = new SlotCounts()
  const claimed: ClaimedRun[] = []
  let chars = 0
  let held = 0
  for (;;) {
    const heldBefore = held
    const due = (await rowsOf(session, DUE(limit - claimed.length), [now])) as unknown as Due[]
    for (let at = 0; at < due.length; ) {
      const next = due.slice(at, at + LEASED_AT_ONCE)
      const some = await together(session, next)
      at += some.length
      const rows = await leased(session, some, { slots, claim })
      held += some.length - rows.length
      const loaded = await withSteps(session, rows)
      for (const run of loaded) chars += charsOf([run.run, ...run.steps])
      claimed.push(...loaded)
      if (some.length < next.length || chars > CLAIM_CHARS_MAX) return claimed
    }
    // Held runs left room for other due runs, and may have woken some.
    if (held === heldBefore || claimed.length === limit || held > HELD_PER_CLAIM_MAX) return claimed
  }
}

/** As many of the runs, from the first on, as may be loaded at once; at least one. */
async function together(session: Session, due: Due[]): Promise<Due[]> {
  const sizes = new Map((await query(session, SIZES, [due.map(([id]) => id)])) as [string, number][])
  let chars = 0
  const end = due.findIndex(([id], i) => {
    chars += sizes.get(id) ?? 0
    return i > 0 && chars > CLAIM_CHARS_MAX
  })
  return end < 0 ? due : due.slice(0, end)
}

/** The rows of the runs that were leased, in the order given. */
async function leased(
  session: Session,
  due: readonly Due[],
  { slots, claim }: { slots: SlotCounts; claim: Claim },
): Promise<Row[]> {
  const plain = due.flatMap(([id, isPlain]) => (isPlain ? id : []))
  const rows = new Map<string, Row>()
  if (plain.length > 0) {
    for (const row of await query(session, LEASE_PLAIN, [claim.owner, claim.leaseUntil, plain]))
      rows.set(row[0] as string, row)
  }
  for (const [id, isPlain] of due) {
    if (isPlain) continue
    const row = await runWork(session, leaseSlotted({ column: 'id', key: id }, slots, claim))
    if (row) rows.set(id, row)
  }
  return due.flatMap(([id]) => {
    const row = rows.get(id)
    return row ? [row] : []
  })
}

async function withSteps(session: Session, runs: readonly Row[]): Promise<ClaimedRun[]> {
  if (runs.length === 0) return []
  const ids = runs.map(([id]) => id as string)
  const steps = new Map<string, Row[]>(ids.map(id => [id, []]))
  for (const row of await query(session, STEPS_OF_RUNS, [ids])) steps.get(row[0] as string)?.push(row)
  const logged = new Map((await query(session, ROOT_LOGGED, [ids])) as [string, number][])
  return runs.map((run, i) => {
    const id = ids[i] as string
    return { run, steps: steps.get(id) as Row[], rootLogged: logged.get(id) ?? 0 }
  })
}

const LEASE_DELIVERIES = `UPDATE deliveries SET status = 'delivering', lease_owner = $1, fence = fence + 1,
    available_at = $2, next_attempt_at = NULL, updated_at = $3
  FROM (SELECT id, status FROM deliveries WHERE id = ANY ($4)) AS before
  WHERE deliveries.id = before.id RETURNING ${DELIVERIES.select}, before.status`

export async function claimDeliveries(session: Session, claim: DeliveryClaim): Promise<Row[]> {
  const picked = [...(await runWork(session, dueDeliveries('id', claim)))] as string[]
  return inOrder(picked, ids => query(session, LEASE_DELIVERIES, [claim.owner, claim.leaseUntil, claim.now, ids]))
}

const DUE_TIMERS = (limit: number) =>
  `SELECT id FROM flow_rows WHERE available_at <= $1 ORDER BY available_at, id LIMIT ${limit}`
const LEASE_TIMERS = `UPDATE flow_rows SET lease_owner = $1, version = version + 1, available_at = $2
  WHERE id = ANY ($3) RETURNING ${FLOW_ROWS.select}`

export async function claimTimers(session: Session, { owner, now, leaseUntil, limit }: Claim): Promise<Row[]> {
  const due = (await rowsOf(session, DUE_TIMERS(limit), [now])).map(([id]) => id as string)
  return inOrder(due, ids => query(session, LEASE_TIMERS, [owner, leaseUntil, ids]))
}

/** Leases some rows at a time, until they are large, and answers them in the order of their ids, the first column. */
async function inOrder(ids: readonly string[], lease: (ids: string[]) => Promise<Row[]>): Promise<Row[]> {
  const claimed: Row[] = []
  let chars = 0
  for (let at = 0; at < ids.length && chars <= CLAIM_CHARS_MAX; at += LEASED_AT_ONCE) {
    const some = ids.slice(at, at + LEASED_AT_ONCE)
    const rows = new Map((await lease(some)).map(row => [row[0] as string, row]))
    for (const id of some) {
      const row = rows.get(id)
      if (!row) continue
      claimed.push(row)
      chars += charsOf([row])
    }
  }
  return claimed
}

/** Rows of a prepared statement, whose parameters may be lists. */
function query(session: Session, sql: string, params: readonly unknown[]): Promise<Row[]> {
  return rowsOf(session, sql, params as never, nameOf(sql))
}
