// Claims of runs, inside the writer's transaction: leases due runs in the order of their priorities, and holds those that
// lack a slot (domain/holds/concurrency.ts has the rules).

import type { Claim } from '../../../ports/store.ts'
import { CLAIM_CHARS_MAX, charsOf, HELD_PER_CLAIM_MAX } from '../claims/claim-bounds.ts'
import { LEASE, leaseSlotted, SlotCounts } from '../claims/slotted-runs.ts'
import type { Row } from '../description/values.ts'
import { ROOT_LOGGED, STEPS_OF_RUN } from '../reads/run-queries.ts'
import type { ClaimedRun } from '../store/database.ts'
import { RANKED, RUNS } from '../tables/runs.ts'
import type { Connection } from './connection.ts'
import { runWork } from './run-work.ts'
import { untyped } from './statements.ts'

const LEASE_PLAIN = untyped(
  `UPDATE runs SET ${LEASE}, start_queue = NULL WHERE rowid = ? AND slot1 IS NULL RETURNING ${RUNS.select}`,
)
const DUE = 'available_at <= ? ORDER BY available_at, rowid LIMIT ?'

export class RunClaims {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  claim(claim: Claim): ClaimedRun[] {
    const { now, limit } = claim
    const slots = new SlotCounts()
    const claimed: ClaimedRun[] = []
    let chars = 0
    let held = 0
    for (;;) {
      const heldBefore = held
      for (const rowid of this.#due(now, limit - claimed.length)) {
        const run = this.#leased(rowid, slots, claim)
        if (!run) {
          held++
          continue
        }
        const steps = this.#connection.prepare(STEPS_OF_RUN).all([run[0] as string])
        claimed.push({ run, steps, rootLogged: this.#rootLogged(run) })
        chars += charsOf([run, ...steps])
        if (chars > CLAIM_CHARS_MAX) return claimed
      }
      // Held runs left room for other due runs, and may have woken some.
      if (held === heldBefore || claimed.length === limit || held > HELD_PER_CLAIM_MAX) return claimed
    }
  }

  /** Row numbers of due runs: higher priorities first, then the longest due. */
  #due(now: number, limit: number): number[] {
    const due: number[] = []
    const add = (sql: string, params: number[]) => {
      if (due.length === limit) return
      const rows = this.#connection.prepare(`SELECT rowid FROM runs WHERE ${sql} AND ${DUE}`)
      for (const [rowid] of rows.all([...params, now, limit - due.length]) as [number][]) due.push(rowid)
    }
    const priorities = this.#priorities()
    let next = priorities.next()
    for (; !next.done && next.value > 0; next = priorities.next()) add('priority = ?', [next.value])
    add('priority IS NULL', [])
    for (; !next.done && due.length < limit; next = priorities.next()) add('priority = ?', [next.value])
    return due
  }

  /** The priorities of scheduled runs, from the highest on, with one index lookup for each. */
  *#priorities(): Generator<number, void> {
    const below = this.#connection.prepare(`SELECT max(priority) FROM runs WHERE ${RANKED} AND priority < ?`)
    let last = Number.MAX_VALUE
    for (;;) {
      const [[priority]] = below.all([last]) as [[number | null]]
      if (priority === null) return
      yield priority
      last = priority
    }
  }

  /** Leases the run; undefined when it is held instead. */
  #leased(rowid: number, slots: SlotCounts, claim: Claim): Row | undefined {
    const { owner, leaseUntil } = claim
    const [plain] = this.#connection.prepare(LEASE_PLAIN).all([owner, leaseUntil, rowid])
    return plain ?? runWork(this.#connection, leaseSlotted({ column: 'rowid', key: rowid }, slots, claim))
  }

  #rootLogged(run: Row): number {
    const [[logged]] = this.#connection.prepare(ROOT_LOGGED).all([run[0] as string]) as [[number]]
    return logged
  }
}
