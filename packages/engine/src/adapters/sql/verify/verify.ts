// Holds a database to its promises: every rule that its rows can tell, over one snapshot, a range of ids at a time, so that
// a large store takes time and not memory. Called by the engine package's `verifyStore`.

import type { Check, Snapshot, Violation, Violations } from './check.ts'
import { TOLD_MAX } from './check.ts'
import { eventContents, flowContents, runContents, scheduleContents, slotContents } from './contents.ts'
import { eventReferences, runReferences } from './references.ts'
import { DELIVERY_CHECKS, PAYLOAD_CHECKS } from './row-checks.ts'
import { RUN_CHECKS, rangesOf } from './run-checks.ts'

/** Ids of one range. */
const RANGE = 500
/** Sorts behind every id. */
const LAST = '\u{10ffff}'

type Range = readonly [from: string, to: string]

/** Every violation, as it is found. None: the store keeps its promises. */
export async function* verify(snapshot: Snapshot): Violations {
  for (const message of await snapshot.damage()) yield { check: 'database', subject: 'store', message }
  for await (const range of rangesOfIds(snapshot, 'runs')) {
    yield* asked(snapshot, RUN_CHECKS, range)
    yield* runContents(snapshot, range)
    yield* runReferences(snapshot, range)
  }
  yield* eventContents(snapshot)
  yield* eventReferences(snapshot)
  for await (const range of rangesOfIds(snapshot, 'deliveries'))
    yield* asked(snapshot, DELIVERY_CHECKS, range)
  for await (const range of rangesOfIds(snapshot, 'payloads')) yield* asked(snapshot, PAYLOAD_CHECKS, range)
  yield* slotContents(snapshot)
  yield* flowContents(snapshot)
  yield* scheduleContents(snapshot)
}

/** Ranges that together hold every id there can be, so that rows of a table that has lost theirs are met too. */
async function* rangesOfIds(snapshot: Snapshot, table: string): AsyncGenerator<Range> {
  for (let from = ''; ; ) {
    const ids = await snapshot.rows(`SELECT id FROM ${table} WHERE id > ? ORDER BY id LIMIT ${RANGE}`, [from])
    const to = ids.length < RANGE ? LAST : (ids[RANGE - 1]?.[0] as string)
    yield [from, to]
    if (to === LAST) return
    from = to
  }
}

async function* asked(snapshot: Snapshot, checks: readonly Check[], range: Range): AsyncGenerator<Violation> {
  for (const check of checks) {
    const params = Array.from({ length: rangesOf(check) }, () => range).flat()
    const rows = await snapshot.rows(`${check.sql} LIMIT ${TOLD_MAX}`, params)
    for (const row of rows) yield { check: check.name, subject: String(row[0]), message: check.tell(row) }
  }
}
