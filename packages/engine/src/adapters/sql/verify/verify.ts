// Checks every rule that the rows of a store must keep, over one snapshot and one range of ids at a time, so that a large store
// takes time rather than memory. Called by compose/maintenance.ts.

import { budgetContents, runBudgets } from './budget-checks.ts'
import type { Check, Snapshot, Violations } from './check.ts'
import { VIOLATIONS_PER_QUERY_MAX } from './check.ts'
import {
  attributeContents,
  eventContents,
  flowContents,
  runContents,
  SCHEDULED_CHECKS,
  scheduleContents,
  slotContents,
} from './contents.ts'
import { definitionContents } from './definition-checks.ts'
import { documentContents } from './document-checks.ts'
import { eventReferences, runReferences } from './references.ts'
import { ROLLUP_CHECKS } from './rollup-checks.ts'
import { DELIVERY_CHECKS, PAYLOAD_CHECKS } from './row-checks.ts'
import { RUN_CHECKS, rangesOf } from './run-checks.ts'
import { STREAM_CHECKS } from './stream-checks.ts'
import { POOL_CHECKS, TURN_CHECKS } from './turn-checks.ts'

/** Ids of one range. */
const RANGE = 500
/** Sorts behind every id. */
const LAST = '\u{10ffff}'

type Range = readonly [from: string, to: string]

/** Yields every violation as it is found; if there are none, the store keeps every rule. */
export async function* verify(snapshot: Snapshot): Violations {
  for (const message of await snapshot.damage()) yield { check: 'database', subject: 'store', message }
  for await (const range of rangesOfIds(snapshot, 'runs')) {
    yield* violationsOf(snapshot, [...RUN_CHECKS, ...TURN_CHECKS, ...STREAM_CHECKS], range)
    yield* runContents(snapshot, range)
    yield* attributeContents(snapshot, range)
    yield* runReferences(snapshot, range)
    yield* runBudgets(snapshot, range)
  }
  yield* eventContents(snapshot)
  yield* eventReferences(snapshot)
  for await (const range of rangesOfIds(snapshot, 'deliveries')) yield* violationsOf(snapshot, DELIVERY_CHECKS, range)
  for await (const range of rangesOfIds(snapshot, 'payloads')) yield* violationsOf(snapshot, PAYLOAD_CHECKS, range)
  yield* budgetContents(snapshot)
  yield* slotContents(snapshot)
  yield* violationsOf(snapshot, POOL_CHECKS)
  yield* flowContents(snapshot)
  yield* violationsOf(snapshot, SCHEDULED_CHECKS)
  yield* scheduleContents(snapshot)
  yield* definitionContents(snapshot)
  yield* documentContents(snapshot)
  yield* violationsOf(snapshot, ROLLUP_CHECKS)
}

/** Ranges that together contain every possible id, so that rows without their parent row are checked too. */
async function* rangesOfIds(snapshot: Snapshot, table: string): AsyncGenerator<Range> {
  for (let from = ''; ; ) {
    const ids = await snapshot.rows(`SELECT id FROM ${table} WHERE id > ? ORDER BY id LIMIT ${RANGE}`, [from])
    const to = ids.length < RANGE ? LAST : (ids[RANGE - 1]?.[0] as string)
    yield [from, to]
    if (to === LAST) return
    from = to
  }
}

/** Violations of the checks, in a range of ids or in all rows. */
async function* violationsOf(snapshot: Snapshot, checks: readonly Check[], range: Range | [] = []): Violations {
  for (const check of checks) {
    const params = Array.from({ length: rangesOf(check) }, () => range).flat()
    const rows = await snapshot.rows(`${check.sql} LIMIT ${VIOLATIONS_PER_QUERY_MAX}`, params)
    for (const row of rows) yield { check: check.name, subject: String(row[0]), message: check.message(row) }
  }
}
