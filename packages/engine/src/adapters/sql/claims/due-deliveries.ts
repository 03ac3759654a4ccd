// Which due deliveries a claim takes, inside the writer's transaction. Any number of due rows may have full destinations and come
// before the others: the claim must neither take those rows nor spend the writer's time on them.

import type { DeliveryClaim } from '../../../ports/store.ts'
import { DeliveryShare } from './delivery-share.ts'
import { query, type Work } from './transaction-work.ts'

/** How rows are addressed: SQLite's own row number is the quickest. */
type Key = 'id' | 'rowid'

/** Most of the oldest due rows that are looked at one by one; the index alone answers this query. */
const OLDEST_MAX = 256

const OLDEST = (key: Key) => `SELECT ${key}, destination FROM deliveries WHERE available_at <= ?
  ORDER BY available_at, destination, ${key} LIMIT ${OLDEST_MAX}`

/** Every destination with a due row, the longest due first: one index lookup for each destination. */
const WAITING = `WITH RECURSIVE destinations (name) AS (
    SELECT min(destination) FROM deliveries WHERE available_at IS NOT NULL
    UNION ALL
    SELECT (SELECT min(destination) FROM deliveries WHERE available_at IS NOT NULL AND destination > name)
    FROM destinations WHERE name IS NOT NULL)
  SELECT name FROM (
    SELECT name, (SELECT min(available_at) FROM deliveries
      WHERE available_at IS NOT NULL AND destination = name) AS first_at
    FROM destinations WHERE name IS NOT NULL) AS waiting
  WHERE first_at <= ? ORDER BY first_at`

const OF_DESTINATION = (key: Key) => `SELECT ${key} FROM deliveries WHERE destination = ? AND available_at <= ?
  ORDER BY available_at, ${key} LIMIT ?`

/** The keys of the rows to take, the longest due first. */
export function* dueDeliveries(key: Key, claim: DeliveryClaim): Work<Iterable<string | number>> {
  const share = new DeliveryShare(claim)
  const picked = new Set<string | number>()
  const oldest = (yield* query(OLDEST(key), [claim.now])) as [string | number, string][]
  for (const [row, destination] of oldest) {
    if (share.take(destination)) picked.add(row)
  }
  if (oldest.length === OLDEST_MAX && !share.isUsedUp) yield* pickBehind(key, claim, { share, picked })
  return picked
}

/** The oldest rows mostly have full destinations: takes the oldest rows of each other destination instead. */
function* pickBehind(
  key: Key,
  { now, limit }: DeliveryClaim,
  { share, picked }: { share: DeliveryShare; picked: Set<string | number> },
): Work<void> {
  for (const [name] of (yield* query(WAITING, [now])) as [string][]) {
    if (!share.hasRoom(name)) continue
    for (const [row] of (yield* query(OF_DESTINATION(key), [name, now, limit])) as [string | number][]) {
      if (!picked.has(row) && share.take(name)) picked.add(row)
    }
    if (share.isUsedUp) return
  }
}
