// Flow-control rows as the units under way in this process will leave them. Events for one buffer arrive together: each decision
// rests on the row that the one before it will write, so all of them go to the store in one batch, not one after the other. A
// unit under way may fail. The guards of the units behind it find that out.

import type { Unit } from '../../domain/model/change.ts'
import type { FlowRow } from '../../domain/model/flow-row.ts'
import type { RowLookup } from '../../domain/run/assumptions.ts'

/** Rows that are kept after their last unit, for the next decision on them. */
const KEPT_ROWS_MAX = 256
/** The longest state of such a row, in characters. */
const KEPT_CHARS_MAX = 16 * 1024

export class RowChain implements RowLookup {
  /** By id of the row: the last unit that writes it, and what it leaves; null if it deletes the row. */
  readonly #underWay = new Map<string, { unit: Unit; row: FlowRow | null }>()
  /** By id: rows as their last unit left them, the newest last. */
  readonly #kept = new Map<string, FlowRow>()

  /** The row as the last unit leaves it; null if that deletes it, undefined if it is not known here. */
  get(id: string): FlowRow | null | undefined {
    const next = this.#underWay.get(id)
    return next ? next.row : this.#kept.get(id)
  }

  /** Makes the unit durable. From the call until it fails, decisions rest on the rows that it writes. */
  commit(unit: Unit, commit: (unit: Unit) => Promise<void>): Promise<void> {
    const ids = unit.guards.flatMap(guard => (guard.type === 'flow' ? guard.id : []))
    return ids.length === 0 ? commit(unit) : this.#link(unit, ids, commit)
  }

  async #link(unit: Unit, ids: readonly string[], commit: (unit: Unit) => Promise<void>): Promise<void> {
    this.#add(unit, ids)
    try {
      await commit(unit)
    } catch (error) {
      for (const id of ids) this.#forget(id)
      throw error
    }
    for (const id of ids) this.#keep(id, unit)
  }

  #add(unit: Unit, ids: readonly string[]): void {
    const rows = new Map<string, FlowRow | null>()
    for (const change of unit.changes) {
      if (change.type === 'flow.saved') rows.set(change.row.id, change.row)
      else if (change.type === 'flow.deleted') rows.set(change.id, null)
    }
    for (const id of ids) {
      const row = rows.get(id)
      if (row !== undefined) this.#underWay.set(id, { unit, row })
    }
  }

  #forget(id: string): void {
    this.#underWay.delete(id)
    this.#kept.delete(id)
  }

  /** The unit is durable: its row is kept if no other unit writes it. */
  #keep(id: string, unit: Unit): void {
    const last = this.#underWay.get(id)
    if (last?.unit !== unit) return
    this.#forget(id)
    if (!last.row || last.row.state.length > KEPT_CHARS_MAX) return
    this.#kept.set(id, last.row)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > KEPT_ROWS_MAX && oldest !== undefined) this.#kept.delete(oldest)
  }
}

/** The rows of a chain for one decision, until that can rest on stored rows alone. */
export class ChainedRows implements RowLookup {
  readonly #chain: RowChain
  #wereUsed = false
  #areOff = false

  constructor(chain: RowChain) {
    this.#chain = chain
  }

  get(id: string): FlowRow | null | undefined {
    const row = this.#areOff ? undefined : this.#chain.get(id)
    if (row !== undefined) this.#wereUsed = true
    return row
  }

  /** From now on there are none. Whether the decision rested on any. */
  turnOff(): boolean {
    const wereUsed = this.#wereUsed && !this.#areOff
    this.#areOff = true
    return wereUsed
  }
}
