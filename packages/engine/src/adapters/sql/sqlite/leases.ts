// Leases inside the writer's transaction (architecture: one column, `available_at`, is schedule, lease, park and crash
// recovery at once). Claims have files of their own.

import { LANE_TABLES } from '../lanes.ts'
import type { Row } from '../operations.ts'
import type { Connection } from './connection.ts'
import type { Statements } from './statements.ts'

/** A claim stops early once it has loaded this much, so that a few huge runs cannot fill the memory. */
export const CLAIM_CHARS_MAX = 32 * 1024 * 1024

export class Leases {
  readonly #connection: Connection
  readonly #statements: Statements

  constructor(connection: Connection, statements: Statements) {
    this.#connection = connection
    this.#statements = statements
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
    this.#freeSlots(owner, now)
    for (const { table, fence, parts } of Object.values(LANE_TABLES)) {
      const held = table === 'runs' ? ', held_slot = NULL' : ''
      for (const part of parts) {
        this.#connection
          .prepare(
            `UPDATE ${table} SET available_at = ?, lease_owner = NULL, ${fence} = ${fence} + 1 ${held}
             WHERE ${part} AND lease_owner <> ?`,
          )
          .run([now, owner])
      }
    }
  }

  /** Whoever stands in line for a slot that a lease of others held has its turn. */
  #freeSlots(owner: string, now: number): void {
    for (const slot of ['slot1', 'slot2', 'slot3']) {
      const ids = this.#connection
        .prepare(
          `SELECT ${slot} FROM runs
           WHERE ${slot} IS NOT NULL AND lease_owner IS NOT NULL AND held_slot IS NULL AND lease_owner <> ?`,
        )
        .all([owner])
      for (const [id] of ids as [string][]) this.#statements.op('slot.free')([now, id])
    }
  }
}

/** The characters of the rows' texts. */
export function charsOf(rows: readonly Row[]): number {
  let chars = 0
  for (const row of rows) for (const value of row) if (typeof value === 'string') chars += value.length
  return chars
}
