// A check of a database is a query whose rows are violations, over all rows or over a range of ids at a time.

import type { Row, Value } from '../description/values.ts'

/** One rule that the rows break. */
export interface Violation {
  /** The rule's name, such as `run.wake`. */
  check: string
  /** The id of the row it is about. */
  subject: string
  message: string
}

/** All rows as they were at one moment; later writes are not visible. */
export interface Snapshot {
  rows(sql: string, params?: Value[]): Promise<Row[]>
  /** Faults that the database itself finds in its pages or indexes, one line each. */
  damage(): Promise<string[]>
  close(): Promise<void>
}

/** A query about the rows whose id is in (first parameter, second parameter]. Its rows are violations. */
export interface Check {
  name: string
  /** The first column is the subject. */
  sql: string
  message(row: Row): string
}

export type Violations = AsyncGenerator<Violation>

/** Most violations that one query yields; a broken rule is rarely broken only a few times. */
export const VIOLATIONS_PER_QUERY_MAX = 100
