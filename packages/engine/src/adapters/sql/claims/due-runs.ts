// Which due runs a claim takes, inside the writer's transaction. Any number of due runs may have a namespace or destination
// without room and come before the others: the claim must neither take those runs nor spend the writer's time on them. Called by
// the claims of both dialects.

import type { RunClaim } from '../../../ports/store.ts'
import type { Row } from '../description/values.ts'
import { LEASED, RANKED, ROOMLESS, SCHEDULED } from '../tables/runs.ts'
import { type DueRun, inQueueOrder, type RunShare } from './run-share.ts'
import { query, type Work } from './transaction-work.ts'

/** How rows are addressed: SQLite's own row number is the quickest. */
type Key = 'id' | 'rowid'

/** If no more runs than this are due, each is looked at; otherwise the claim goes destination by destination. */
const EACH_MAX = 64
/** Most priorities of a destination that are searched for due runs; after that, age alone decides. */
const RANKS_MAX = 256
/** Most runs that one claim takes even if there is no room for them. */
const ROOMLESS_MAX = 64
/** Most expired leases that one claim looks at: as many as the runs that an engine drives. */
const EXPIRED_MAX = 2048

const COLUMNS = (key: Key) => `${key}, namespace, app, destination, priority, available_at, log_position`

// Limits are literals where PostgreSQL's planner might otherwise expect so many rows that it sorts all due ones.
const DUE = `FROM runs WHERE ${SCHEDULED} AND available_at <= ?i ORDER BY available_at LIMIT`
/**
 * Runs that fell due in the same millisecond follow the order of the log. SQLite's indexes have them in the order of insertion,
 * which is the same.
 */
const byAge = (key: Key) => (key === 'rowid' ? 'available_at' : 'available_at, log_position')
/** A row if too many runs are due to look at each one; the index alone answers it. */
const MANY_DUE = `SELECT available_at ${DUE} 1 OFFSET ${EACH_MAX}`
const EACH = (key: Key) => `SELECT ${COLUMNS(key)} FROM runs WHERE ${SCHEDULED} AND available_at <= ?i
  ORDER BY ${byAge(key)} LIMIT ${EACH_MAX}`
/** Expired leases: at most those of an engine that died. */
const EXPIRED = (key: Key) => `SELECT ${COLUMNS(key)} FROM runs WHERE ${LEASED} AND available_at <= ?i
  ORDER BY available_at LIMIT ${EXPIRED_MAX}`
const NEED_NO_ROOM = (key: Key) => `SELECT ${COLUMNS(key)} FROM runs
  WHERE ${ROOMLESS} AND roomless_at <= ?i AND available_at <= ?i ORDER BY roomless_at LIMIT ${ROOMLESS_MAX}`

/** Every destination with a due run, the longest due first: one index lookup for each destination with a scheduled run. */
const DESTINATIONS = `WITH RECURSIVE destinations (name) AS (
    SELECT min(destination) FROM runs WHERE ${SCHEDULED}
    UNION ALL
    SELECT (SELECT min(destination) FROM runs WHERE ${SCHEDULED} AND destination > name)
    FROM destinations WHERE name IS NOT NULL)
  SELECT name, ${['namespace', 'app'].map(
    column => `(SELECT ${column} FROM runs WHERE ${SCHEDULED} AND destination = name ORDER BY available_at LIMIT 1)`,
  )} FROM (
    SELECT name, (SELECT min(available_at) FROM runs WHERE ${SCHEDULED} AND destination = name) AS first_at
    FROM destinations WHERE name IS NOT NULL) AS waiting
  WHERE first_at <= ?i ORDER BY first_at`
const OF_DESTINATION = (key: Key, limit: number) => `SELECT ${COLUMNS(key)} FROM runs
  WHERE ${SCHEDULED} AND destination = ? AND available_at <= ?i ORDER BY ${byAge(key)} LIMIT ${limit}`
const WITHOUT_RANK = (key: Key, limit: number) => `SELECT ${COLUMNS(key)} FROM runs
  WHERE ${SCHEDULED} AND destination = ? AND available_at <= ?i AND priority IS NULL ORDER BY ${byAge(key)} LIMIT ${limit}`
/** The priorities of a destination's due runs, from the highest down: one index lookup for each priority of a scheduled run. */
const RANKS = `WITH RECURSIVE ranks (number, rank) AS (
    SELECT 1, max(priority) FROM runs WHERE ${RANKED} AND destination = ?
    UNION ALL
    SELECT number + 1, (SELECT max(priority) FROM runs WHERE ${RANKED} AND destination = ? AND priority < rank)
    FROM ranks WHERE rank IS NOT NULL AND number < ${RANKS_MAX})
  SELECT rank FROM ranks WHERE rank IS NOT NULL AND (SELECT min(available_at) FROM runs
    WHERE ${RANKED} AND destination = ? AND priority = rank) <= ?i ORDER BY rank DESC`
const OF_RANK = (key: Key, limit: number) => `SELECT ${COLUMNS(key)} FROM runs
  WHERE ${RANKED} AND destination = ? AND priority = ?r AND available_at <= ?i ORDER BY ${byAge(key)} LIMIT ${limit}`

interface Destination {
  namespace: string
  app: string
  destination: string
}

/** The runs to lease, in the order of their turns. Takes them from the share. */
export function* dueRuns(key: Key, claim: RunClaim, share: RunShare): Work<DueRun[]> {
  const { now, limit } = claim
  const picked = new Map<DueRun['key'], DueRun>()
  const isNew = (run: DueRun) => !picked.has(run.key) && !share.hasLeft(run.key)
  const pick = (due: readonly DueRun[]) => {
    for (const run of share.pick(due.filter(isNew), limit - picked.size)) picked.set(run.key, run)
  }
  for (const run of (yield* query(NEED_NO_ROOM(key), [now, now])).map(dueRun).filter(isNew).slice(0, limit)) {
    share.take(run)
    picked.set(run.key, run)
  }
  const expired = (yield* query(EXPIRED(key), [now])).map(dueRun)
  const areMany = (yield* query(MANY_DUE, [now])).length > 0
  if (!areMany) {
    pick([...expired, ...(yield* query(EACH(key), [now])).map(dueRun)])
    return inQueueOrder([...picked.values()])
  }
  pick(expired)
  const destinations = (yield* query(DESTINATIONS, [now])).map(destinationOf)
  let open = destinations.filter(one => share.hasRoom(one))
  // Each round takes what it found. Another round follows only if some destinations have more runs than were looked at.
  for (let each = eachOf(limit, open.length); open.length > 0 && picked.size < limit; each *= 4) {
    const found: DueRun[] = []
    const [first, later] = firstInTurn(share, open, limit)
    const most = rounded(each + picked.size)
    open = later
    for (const one of first) {
      const due = yield* ofDestination(key, one, { now, limit: most })
      if (due.length >= most) open.push(one)
      found.push(...due)
    }
    pick(found)
    open = open.filter(one => share.hasRoom(one))
  }
  return inQueueOrder([...picked.values()])
}

/** Splits the destinations: those of as many namespaces as the claim can take runs of, and the rest. */
function firstInTurn(share: RunShare, open: readonly Destination[], limit: number): [Destination[], Destination[]] {
  const namespaces = share.inTurn(open)
  return [namespaces.slice(0, limit).flat(), namespaces.slice(limit).flat()]
}

/** Due runs of a destination: if there are more than the limit, those of the highest priorities, then the longest due. */
function* ofDestination(
  key: Key,
  { destination }: Destination,
  { now, limit }: { now: number; limit: number },
): Work<DueRun[]> {
  const oldest = (yield* query(OF_DESTINATION(key, limit), [destination, now])).map(dueRun)
  if (oldest.length < limit) return oldest
  const ranks = (yield* query(RANKS, [destination, destination, destination, now])) as [number][]
  if (ranks.length === 0) return oldest
  const runs: DueRun[] = []
  const add = (rows: readonly Row[]) => runs.push(...rows.map(dueRun))
  for (const [rank] of ranks) {
    if (rank < 0 || runs.length >= limit) break
    add(yield* query(OF_RANK(key, limit), [destination, rank, now]))
  }
  if (runs.length < limit) add(yield* query(WITHOUT_RANK(key, limit), [destination, now]))
  for (const [rank] of ranks) {
    if (runs.length >= limit) break
    if (rank < 0) add(yield* query(OF_RANK(key, limit), [destination, rank, now]))
  }
  const found = new Set(runs.map(run => run.key))
  return [...runs, ...oldest.filter(run => !found.has(run.key))].slice(0, limit)
}

/** How many runs of each destination are looked at first. */
function eachOf(limit: number, destinations: number): number {
  return Math.max(16, Math.ceil((2 * limit) / Math.max(1, destinations)))
}

/** A power of two, so that few statements are prepared. */
function rounded(limit: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, limit)))
}

function destinationOf([destination, namespace, app]: Row): Destination {
  return { destination, namespace, app } as Destination
}

function dueRun([key, namespace, app, destination, priority, availableAt, logPosition]: Row): DueRun {
  return { key, namespace, app, destination, priority: priority ?? 0, availableAt, logPosition } as DueRun
}
