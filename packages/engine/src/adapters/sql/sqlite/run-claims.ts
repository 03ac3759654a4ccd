// Claims of runs, inside the writer's transaction: leases the due runs for which there is room, and holds runs that lack a slot
// (domain/holds/concurrency.ts has the rules).

import type { LeftRun, RunClaim } from '../../../ports/store.ts'
import { CLAIM_CHARS_MAX, charsOf, HELD_PER_CLAIM_MAX, LEFT_PER_CLAIM_MAX, STATE_SIZE } from '../claims/claim-bounds.ts'
import { dueRuns } from '../claims/due-runs.ts'
import { type DueRun, RunShare } from '../claims/run-share.ts'
import { IS_PLAIN, LEASE, leaseSlotted, SlotCounts } from '../claims/slotted-runs.ts'
import type { Row } from '../description/values.ts'
import { ROOT_LOGGED, STEPS_OF_RUN } from '../reads/runs/run-queries.ts'
import type { ClaimedRun, ClaimedRuns } from '../store/database.ts'
import { RUNS } from '../tables/runs.ts'
import type { Connection } from './connection.ts'
import { runWork } from './run-work.ts'
import { untyped } from './statements.ts'

const LEASE_PLAIN = untyped(`UPDATE runs SET ${LEASE} WHERE rowid = ? AND ${IS_PLAIN} RETURNING ${RUNS.select}`)
const SIZE = `SELECT id, ${STATE_SIZE} FROM runs WHERE rowid = ?`

export class RunClaims {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  claim(claim: RunClaim): ClaimedRuns {
    const share = new RunShare(claim)
    const claimed = this.#claim(claim, share)
    return { claimed, left: share.left }
  }

  #claim(claim: RunClaim, share: RunShare): ClaimedRun[] {
    const { limit } = claim
    const slots = new SlotCounts()
    const claimed: ClaimedRun[] = []
    let chars = 0
    let held = 0
    for (;;) {
      const before = held + share.skipped
      const rest = { ...claim, limit: limit - claimed.length }
      for (const due of runWork(this.#connection, dueRuns('rowid', rest, share))) {
        if (share.hasMemory && !share.takeMemory(due, this.#sizeOf(due))) continue
        const run = this.#leased(due.key as number, slots, claim)
        if (!run) {
          held++
          share.giveBack(due)
          continue
        }
        const steps = this.#connection.prepare(STEPS_OF_RUN).all([run[0] as string])
        claimed.push({ run, steps, rootLogged: this.#rootLogged(run) })
        chars += charsOf([run, ...steps])
        if (chars > CLAIM_CHARS_MAX) return claimed
      }
      // Held and skipped runs left room for other due runs, and held runs may have woken some.
      if (held + share.skipped === before || claimed.length === limit) return claimed
      if (held > HELD_PER_CLAIM_MAX || share.skipped > LEFT_PER_CLAIM_MAX) return claimed
    }
  }

  #sizeOf({ key }: DueRun): LeftRun {
    const [[id, bytes]] = this.#connection.prepare(SIZE).all([key]) as [[string, number]]
    return { id, bytes }
  }

  /** Leases the run; returns undefined when it is held instead. */
  #leased(rowid: number, slots: SlotCounts, claim: RunClaim): Row | undefined {
    const { owner, leaseUntil } = claim
    const [plain] = this.#connection.prepare(LEASE_PLAIN).all([owner, leaseUntil, rowid])
    return plain ?? runWork(this.#connection, leaseSlotted({ column: 'rowid', key: rowid }, slots, claim))
  }

  #rootLogged(run: Row): number {
    const [[logged]] = this.#connection.prepare(ROOT_LOGGED).all([run[0] as string]) as [[number]]
    return logged
  }
}
