// The interface of a store that takes part in a move, source or target. Each dialect implements it; move.ts uses it.

import type { Row, Value } from '../description/values.ts'
import type { Snapshot } from '../verify/check.ts'
import type { CopiedTable } from './copied-tables.ts'

/** A store without an engine: none can open it until `close`. */
export interface MoveSide extends Snapshot {
  /** The store's name for messages, without its password. */
  readonly name: string
  /** Whether the schema has the table. */
  has(table: string): Promise<boolean>
  run(sql: string, params?: Value[]): Promise<void>
  insert(table: CopiedTable, rows: readonly Row[]): Promise<void>
  /** Makes everything that `work` writes durable at once, or nothing of it. */
  commit(work: () => Promise<void>): Promise<void>
  /** Brings the schema of a target up to date. */
  migrate(): Promise<void>
  /** The highest position that the table has ever given to a row. */
  lastPosition(table: CopiedTable): Promise<number>
  /** Gives the table's next row the position after this one. */
  setLastPosition(table: CopiedTable, position: number): Promise<void>
}
