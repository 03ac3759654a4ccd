// Claims and leases, inside the writer's transaction (architecture: one column, `available_at`, is schedule, lease,
// park and crash recovery at once).

import type { Lane } from '../../../ports/store.ts'
import type { ClaimedRun } from '../driver.ts'
import type { Row, Value } from '../operations.ts'
import { SELECT_DELIVERY } from '../rows/delivery-row.ts'
import { SELECT_RUN } from '../rows/run-row.ts'
import { ROOT_LOGGED, STEPS_OF_RUN } from '../run-queries.ts'
import type { Connection } from './connection.ts'

/** A claim stops early once it has loaded this much, so that a few huge runs cannot fill the memory. */
const CLAIM_CHARS_MAX = 32 * 1024 * 1024

const LANES: readonly Lane[] = ['runs', 'deliveries']

export class Leases {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  claim([lane, owner, now, leaseUntil, limit]: [Lane, string, number, number, number]): ClaimedRun[] | Row[] {
    const due = this.#connection
      .prepare(`SELECT rowid FROM ${lane} WHERE available_at <= ? ORDER BY available_at, rowid LIMIT ?`)
      .all([now, limit])
    const select = lane === 'runs' ? SELECT_RUN : SELECT_DELIVERY
    const lease = this.#connection.prepare(
      `UPDATE ${lane} SET lease_owner = ?, fence = fence + 1, available_at = ? WHERE rowid = ? RETURNING ${select}`,
    )
    const claimed: (ClaimedRun | Row)[] = []
    let chars = 0
    for (const [rowid] of due as [number][]) {
      const [row] = lease.all([owner, leaseUntil, rowid]) as [Row]
      const steps = lane === 'runs' ? this.#steps(row) : []
      claimed.push(lane === 'runs' ? { run: row, steps, rootLogged: this.#rootLogged(row) } : row)
      chars += charsOf([row, ...steps])
      if (chars > CLAIM_CHARS_MAX) break
    }
    return claimed as ClaimedRun[] | Row[]
  }

  /** The ids of the runs whose lease is no longer the caller's. */
  extend(until: number, leases: Value[]): string[] {
    const extend = this.#connection.prepare(
      'UPDATE runs SET available_at = ? WHERE id = ? AND fence = ? AND lease_owner IS NOT NULL',
    )
    const lost: string[] = []
    for (let i = 0; i < leases.length; i += 2) {
      const [runId, fence] = leases.slice(i, i + 2) as [string, number]
      if (extend.run([until, runId, fence]) === 0) lost.push(runId)
    }
    return lost
  }

  /** The fence goes up, so that whoever still believes to hold a lease can change nothing. */
  releaseOthers(owner: string, now: number): void {
    for (const lane of LANES) {
      this.#connection
        .prepare(
          `UPDATE ${lane} SET available_at = ?, lease_owner = NULL, fence = fence + 1
           WHERE available_at IS NOT NULL AND lease_owner <> ?`,
        )
        .run([now, owner])
    }
  }

  #steps(run: Row): Row[] {
    return this.#connection.prepare(STEPS_OF_RUN).all([run[0] as string])
  }

  #rootLogged(run: Row): number {
    const [[logged]] = this.#connection.prepare(ROOT_LOGGED).all([run[0] as string]) as [[number]]
    return logged
  }
}

function charsOf(rows: readonly Row[]): number {
  let chars = 0
  for (const row of rows) for (const value of row) if (typeof value === 'string') chars += value.length
  return chars
}
