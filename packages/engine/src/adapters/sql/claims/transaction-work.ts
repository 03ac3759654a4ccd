// Work inside a write transaction that is the same in every dialect: a generator that yields queries and receives their rows.
// Each dialect runs it over its own connection (run-work.ts there), SQLite at once, PostgreSQL over the network.

import type { Query, Row, Value } from '../description/values.ts'

/** Yields queries in the shared SQL, with typed placeholders. */
export type Work<T> = Generator<Query, T, Row[]>

export function* query(sql: string, params: Value[]): Work<Row[]> {
  return yield { sql, params }
}
