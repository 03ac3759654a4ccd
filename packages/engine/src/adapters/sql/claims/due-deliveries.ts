// Which due deliveries a claim takes, inside the writer's transaction. What is due may lie behind any number of rows whose
// destinations are full: those must neither be taken nor cost the writer its time.

import type { DeliveryClaim } from '../../../ports/store.ts'
import { DeliveryShare } from './delivery-share.ts'
import { type Asking, ask } from './transaction-work.ts'

/** What a row is known by: SQLite's own number is the quickest. */
type Key = 'id' | 'rowid'

/** So many of the oldest due rows are looked at one by one; the index tells all that is asked. */
const OLDEST_MAX = 256

const OLDEST = (key: Key) => `SELECT ${key}, destination FROM deliveries WHERE available_at <= ?
  ORDER BY available_at, destination, ${key} LIMIT ${OLDEST_MAX}`

/** Every destination with something due, the longest waiting first: a jump through the index for each. */
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

const OF_DESTINATION = (
  key: Key,
) => `SELECT ${key} FROM deliveries WHERE destination = ? AND available_at <= ?
  ORDER BY available_at, ${key} LIMIT ?`

/** The keys of the rows to take, those that were due first in front. */
export function* dueDeliveries(key: Key, claim: DeliveryClaim): Asking<Iterable<string | number>> {
  const share = new DeliveryShare(claim)
  const picked = new Set<string | number>()
  const oldest = (yield* ask(OLDEST(key), [claim.now])) as [string | number, string][]
  for (const [row, destination] of oldest) {
    if (share.take(destination)) picked.add(row)
  }
  if (oldest.length === OLDEST_MAX && !share.isUsedUp) yield* pickBehind(key, claim, { share, picked })
  return picked
}

/** The oldest rows are mostly held back: asks each destination for its own oldest instead. */
function* pickBehind(
  key: Key,
  { now, limit }: DeliveryClaim,
  { share, picked }: { share: DeliveryShare; picked: Set<string | number> },
): Asking<void> {
  for (const [name] of (yield* ask(WAITING, [now])) as [string][]) {
    if (!share.hasRoom(name)) continue
    for (const [row] of (yield* ask(OF_DESTINATION(key), [name, now, limit])) as [string | number][]) {
      if (!picked.has(row) && share.take(name)) picked.add(row)
    }
    if (share.isUsedUp) return
  }
}
