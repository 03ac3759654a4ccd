// Claims and extensions of leases, inside the writer's transaction. Runs without slots are leased by the hundred in one statement; runs that need slots
// are leased one by one, by the rules that both dialects share.

import type { Claim, DeliveryClaim, RunClaim } from '../../../ports/store.ts'
import { CLAIM_CHARS_MAX, charsOf, HELD_PER_CLAIM_MAX, LEFT_PER_CLAIM_MAX, STATE_SIZE } from '../claims/claim-bounds.ts'
import { dueDeliveries } from '../claims/due-deliveries.ts'
import { dueRuns } from '../claims/due-runs.ts'
import { type DueRun, RunShare } from '../claims/run-share.ts'
import { IS_PLAIN, leaseSlotted, SlotCounts } from '../claims/slotted-runs.ts'
import type { Row } from '../description/values.ts'
import type { ClaimedRun, ClaimedRuns } from '../store/database.ts'
import { DELIVERIES } from '../tables/deliveries.ts'
import { FLOW_ROWS } from '../tables/flow-rows.ts'
import { RUNS } from '../tables/runs.ts'
import { STEPS } from '../tables/steps.ts'
import { nameOf, type Queryable, rowsOf } from './client.ts'
import { runWork } from './run-work.ts'

/** Rows that one statement leases. */
const LEASED_AT_ONCE = 100

const LEASE_PLAIN = `UPDATE runs SET lease_owner = $1, fence = fence + 1, available_at = $2
  WHERE id = ANY ($3) AND ${IS_PLAIN} RETURNING ${RUNS.select}`
const SIZES = `SELECT id, ${STATE_SIZE} FROM runs WHERE id = ANY ($1)`
const STEPS_OF_RUNS = `SELECT ${STEPS.select} FROM steps WHERE run_id = ANY ($1) ORDER BY run_id, idx`
const ROOT_LOGGED = `SELECT run_id, max(idx) + 1 FROM logs WHERE scope = '@root' AND run_id = ANY ($1) GROUP BY run_id`

export async function claimRuns(client: Queryable, claim: RunClaim): Promise<ClaimedRuns> {
  const share = new RunShare(claim)
  const claimed = await claimWithin(client, claim, share)
  return { claimed, left: share.left }
}

async function claimWithin(client: Queryable, claim: RunClaim, share: RunShare): Promise<ClaimedRun[]> {
  const { limit } = claim
  const slots = new SlotCounts()
  const claimed: ClaimedRun[] = []
  let chars = 0
  let held = 0
  for (;;) {
    const before = held + share.skipped
    const rest = { ...claim, limit: limit - claimed.length }
    const due = await runWork(client, dueRuns('id', rest, share))
    for (let at = 0; at < due.length; ) {
      const next = due.slice(at, at + LEASED_AT_ONCE)
      const { looked, some } = await together(client, next, share)
      at += looked
      const rows = await leased(client, some, { slots, share, claim })
      held += some.length - rows.length
      const loaded = await withSteps(client, rows)
      for (const run of loaded) chars += charsOf([run.run, ...run.steps])
      claimed.push(...loaded)
      if (looked < next.length || chars > CLAIM_CHARS_MAX) return claimed
    }
    // Held and skipped runs left room for other due runs, and held runs may have woken some.
    if (held + share.skipped === before || claimed.length === limit) return claimed
    if (held > HELD_PER_CLAIM_MAX || share.skipped > LEFT_PER_CLAIM_MAX) return claimed
  }
}

/** Returns as many of the runs, from the first on, as may be loaded at once, and at least one. Runs without memory are left. */
async function together(
  client: Queryable,
  due: DueRun[],
  share: RunShare,
): Promise<{ looked: number; some: DueRun[] }> {
  const sizes = new Map((await query(client, SIZES, [due.map(({ key }) => key)])) as [string, number][])
  const some: DueRun[] = []
  let chars = 0
  for (const [looked, run] of due.entries()) {
    const id = run.key as string
    const bytes = Number(sizes.get(id) ?? 0)
    if (looked > 0 && chars + bytes > CLAIM_CHARS_MAX) return { looked, some }
    if (!share.takeMemory(run, { id, bytes })) continue
    chars += bytes
    some.push(run)
  }
  return { looked: due.length, some }
}

/** The rows of the runs that were leased, in the order given. */
async function leased(
  client: Queryable,
  due: readonly DueRun[],
  { slots, share, claim }: { slots: SlotCounts; share: RunShare; claim: Claim },
): Promise<Row[]> {
  const ids = due.map(({ key }) => key)
  const plain = await query(client, LEASE_PLAIN, [claim.owner, claim.leaseUntil, ids])
  const rows = new Map(plain.map(row => [row[0], row]))
  const leased: Row[] = []
  for (const run of due) {
    const { key } = run
    const row = rows.get(key) ?? (await runWork(client, leaseSlotted({ column: 'id', key }, slots, claim)))
    if (row) leased.push(row)
    else share.giveBack(run)
  }
  return leased
}

async function withSteps(client: Queryable, runs: readonly Row[]): Promise<ClaimedRun[]> {
  if (runs.length === 0) return []
  const ids = runs.map(([id]) => id as string)
  const steps = new Map<string, Row[]>(ids.map(id => [id, []]))
  for (const row of await query(client, STEPS_OF_RUNS, [ids])) steps.get(row[0] as string)?.push(row)
  const logged = new Map((await query(client, ROOT_LOGGED, [ids])) as [string, number][])
  return runs.map((run, i) => {
    const id = ids[i] as string
    return { run, steps: steps.get(id) as Row[], rootLogged: logged.get(id) ?? 0 }
  })
}

const LEASE_DELIVERIES = `UPDATE deliveries SET status = 'delivering', lease_owner = $1, fence = fence + 1,
    available_at = $2, next_attempt_at = NULL, updated_at = $3
  FROM (SELECT id, status FROM deliveries WHERE id = ANY ($4)) AS before
  WHERE deliveries.id = before.id RETURNING ${DELIVERIES.select}, before.status`

export async function claimDeliveries(client: Queryable, claim: DeliveryClaim): Promise<Row[]> {
  const picked = [...(await runWork(client, dueDeliveries('id', claim)))] as string[]
  return inOrder(picked, ids => query(client, LEASE_DELIVERIES, [claim.owner, claim.leaseUntil, claim.now, ids]))
}

const DUE_TIMERS = (limit: number) =>
  `SELECT id FROM flow_rows WHERE available_at <= $1 ORDER BY available_at, id LIMIT ${limit}`
const LEASE_TIMERS = `UPDATE flow_rows SET lease_owner = $1, version = version + 1, available_at = $2
  WHERE id = ANY ($3) RETURNING ${FLOW_ROWS.select}`

export async function claimTimers(client: Queryable, { owner, now, leaseUntil, limit }: Claim): Promise<Row[]> {
  const due = (await rowsOf(client, DUE_TIMERS(limit), [now])).map(([id]) => id as string)
  return inOrder(due, ids => query(client, LEASE_TIMERS, [owner, leaseUntil, ids]))
}

/** Leases some rows at a time, until they are large. Returns them in the order of their ids, the first column. */
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

/** Returns the rows of a prepared statement, whose parameters may be lists. */
function query(client: Queryable, sql: string, params: readonly unknown[]): Promise<Row[]> {
  return rowsOf(client, sql, params as never, nameOf(sql))
}

/** Returns the ids of the runs whose lease the owner has lost, or that are to be claimed and cancelled. */
export async function extendRuns(
  client: Queryable,
  { owner, until, runIds }: { owner: string; until: number; runIds: readonly string[] },
): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `UPDATE runs SET available_at = $1 WHERE id = ANY ($2) AND lease_owner = $3 AND cancel_requested IS NULL
     RETURNING id`,
    [until, runIds, owner],
  )
  const extended = new Set(rows.map(({ id }) => id))
  return runIds.filter(runId => !extended.has(runId))
}
