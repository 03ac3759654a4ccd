// What a check of a database is: a question whose rows are violations, asked of all rows or of a range of ids at a time.

import type { Row, Value } from '../description/values.ts'

/** One rule that the rows break. */
export interface Violation {
  /** The rule's name, such as `run.wake`. */
  check: string
  /** The id of the row it is about. */
  subject: string
  message: string
}

/** All rows as they were at one moment, whatever is written meanwhile. */
export interface Snapshot {
  rows(sql: string, params?: Value[]): Promise<Row[]>
  /** What the database itself finds wrong with its pages or indexes: a line each. */
  damage(): Promise<string[]>
  close(): Promise<void>
}

/** A question about the rows whose id is in (first parameter, second parameter]. Its rows are violations. */
export interface Check {
  name: string
  /** The first column is the subject. */
  sql: string
  tell(row: Row): string
}

export type Violations = AsyncGenerator<Violation>

/** Most violations that one question tells; there are rarely few of many. */
export const TOLD_MAX = 100
