// Claims of runs, and leases, inside the writer's transaction (architecture: one column, `available_at`, is schedule, lease,
// park and crash recovery at once).

import type { Lane } from '../../../ports/store.ts'
import type { ClaimedRun } from '../driver.ts'
import type { Row } from '../operations.ts'
import { SELECT_RUN } from '../rows/run-row.ts'
import { ROOT_LOGGED, STEPS_OF_RUN } from '../run-queries.ts'
import type { Connection } from './connection.ts'

/** A claim stops early once it has loaded this much, so that a few huge runs cannot fill the memory. */
export const CLAIM_CHARS_MAX = 32 * 1024 * 1024

const LANES: readonly Lane[] = ['runs', 'deliveries']

export class Leases {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  claimRuns([owner, now, leaseUntil, limit]: [string, number, number, number]): ClaimedRun[] {
    const due = this.#connection
      .prepare('SELECT rowid FROM runs WHERE available_at <= ? ORDER BY available_at, rowid LIMIT ?')
      .all([now, limit])
    const lease = this.#connection.prepare(
      `UPDATE runs SET lease_owner = ?, fence = fence + 1, available_at = ? WHERE rowid = ? RETURNING ${SELECT_RUN}`,
    )
    const claimed: ClaimedRun[] = []
    let chars = 0
    for (const [rowid] of due as [number][]) {
      const [run] = lease.all([owner, leaseUntil, rowid]) as [Row]
      const steps = this.#steps(run)
      claimed.push({ run, steps, rootLogged: this.#rootLogged(run) })
      chars += charsOf([run, ...steps])
      if (chars > CLAIM_CHARS_MAX) break
    }
    return claimed
  }

  /** The ids of the runs whose lease is no longer the owner's, or that are to be claimed and cancelled. */
  extend([owner, until, ...runIds]: [string, number, ...string[]]): string[] {
    const extend = this.#connection.prepare(
      'UPDATE runs SET available_at = ? WHERE id = ? AND lease_owner = ? AND cancel_asked IS NULL',
    )
    return runIds.filter(runId => extend.run([until, runId, owner]) === 0)
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

/** The characters of the rows' texts. */
export function charsOf(rows: readonly Row[]): number {
  let chars = 0
  for (const row of rows) for (const value of row) if (typeof value === 'string') chars += value.length
  return chars
}
