// Claims of runs, inside the writer's transaction: which due runs are leased, in the order of their priorities, and
// which are held for want of a slot (domain/flow/slots.ts says by what rules).

import { fullSlot, heldForSlot, slotIds, wantsSlots } from '../../../domain/flow/slots.ts'
import type { Run } from '../../../domain/run.ts'
import { firstSeq } from '../../../domain/seq.ts'
import type { Claim } from '../../../ports/store.ts'
import type { ClaimedRun } from '../driver.ts'
import type { Row } from '../operations.ts'
import { runFrameRow } from '../rows/frame-row.ts'
import { runFromRow, runMoves, SELECT_RUN, SELECT_RUN_SUMMARY } from '../rows/run-row.ts'
import { ROOT_LOGGED, STEPS_OF_RUN } from '../run-queries.ts'
import type { Connection, Statement } from './connection.ts'
import { CLAIM_CHARS_MAX, charsOf } from './leases.ts'
import type { Statements } from './statements.ts'

/** Runs one claim holds at most: a long line is worked off in several, and others write in between. */
const HELD_MAX = 500

const LEASE = 'lease_owner = ?, fence = fence + 1, available_at = ?'
const DUE = 'available_at <= ? ORDER BY available_at, rowid LIMIT ?'
const HAS_SLOT = 'lease_owner IS NOT NULL AND held_slot IS NULL'

export class RunClaims {
  readonly #connection: Connection
  readonly #statements: Statements

  constructor(connection: Connection, statements: Statements) {
    this.#connection = connection
    this.#statements = statements
  }

  claim(claim: Claim): ClaimedRun[] {
    const { now, limit } = claim
    const slots = new SlotCounts(this.#connection)
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
      // What was held left room for others that are due, and may have woken some.
      if (held === heldBefore || claimed.length === limit || held > HELD_MAX) return claimed
    }
  }

  /** Rows of due runs: of higher priorities first, then those that have been due longest. */
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

  /** The priorities that runs have, from the highest on: the index is asked for each, not walked through. */
  *#priorities(): Generator<number, void> {
    const below = this.#connection.prepare(
      'SELECT max(priority) FROM runs WHERE available_at IS NOT NULL AND priority IS NOT NULL AND priority < ?',
    )
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
    const { owner, now, leaseUntil } = claim
    const [plain] = this.#connection
      .prepare(`UPDATE runs SET ${LEASE} WHERE rowid = ? AND slot1 IS NULL RETURNING ${SELECT_RUN}`)
      .all([owner, leaseUntil, rowid])
    if (plain) return plain
    const [row] = this.#connection
      .prepare(`SELECT ${SELECT_RUN_SUMMARY} FROM runs WHERE rowid = ?`)
      .all([rowid]) as [Row]
    const run = runFromRow(row)
    slots.giveBack(run)
    const wants = wantsSlots(run, now)
    const full = wants ? fullSlot(run, id => slots.taken(id)) : undefined
    if (full) {
      this.#hold(run, heldForSlot(run, full, now), now)
      // What it was woken for may still be free: the next in those lines has its turn.
      for (const { id, limit } of run.holds?.slots ?? []) {
        if (slots.taken(id) < limit) this.#statements.op('slot.free')([now, id])
      }
      return undefined
    }
    if (wants) slots.take(run)
    // One that only ends or settles its timers takes no slot, which a leased row tells by the slot it stands for.
    const heldSlot = wants ? null : (slotIds(run)[0] as string)
    const [leased] = this.#connection
      .prepare(`UPDATE runs SET ${LEASE}, held_slot = ? WHERE rowid = ? RETURNING ${SELECT_RUN}`)
      .all([owner, leaseUntil, heldSlot, rowid])
    return leased
  }

  #hold(run: Run, held: Run, now: number): void {
    this.#statements.op('run.update')([...runMoves(held), run.id])
    if (run.status === held.status) return
    const { status, attempt, fence } = held
    this.#statements.op('frame.insert')(
      runFrameRow(run.id, { seq: firstSeq(fence), ts: now, status, attempt }),
    )
  }

  #rootLogged(run: Row): number {
    const [[logged]] = this.#connection.prepare(ROOT_LOGGED).all([run[0] as string]) as [[number]]
    return logged
  }
}

/** How many runs hold each slot, counted once per claim and kept up to date through it. */
class SlotCounts {
  readonly #count: Statement
  readonly #counts = new Map<string, number>()

  constructor(connection: Connection) {
    const counts = ['slot1', 'slot2', 'slot3'].map(
      slot => `(SELECT count(*) FROM runs WHERE ${slot} = ? AND ${HAS_SLOT})`,
    )
    this.#count = connection.prepare(`SELECT ${counts.join(' + ')}`)
  }

  taken(id: string): number {
    const known = this.#counts.get(id)
    if (known !== undefined) return known
    const [[count]] = this.#count.all([id, id, id]) as [[number]]
    this.#counts.set(id, count)
    return count
  }

  take(run: Run): void {
    this.#add(run, 1)
  }

  /** A run whose lease ran out does not stand in its own way. */
  giveBack(run: Run): void {
    if (run.leaseOwner !== undefined && run.heldSlot === undefined) this.#add(run, -1)
  }

  #add(run: Run, change: 1 | -1): void {
    for (const id of slotIds(run)) this.#counts.set(id, this.taken(id) + change)
  }
}
