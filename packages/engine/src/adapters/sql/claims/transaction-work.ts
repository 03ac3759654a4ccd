// Work inside a write transaction, told as questions and what follows from their answers: each dialect drives it over a
// connection of its own, one at once, the other over the wire. Used by what must be the same in both.

import type { Query, Row, Value } from '../tables/operations.ts'

/** Yields what it asks (in the shared SQL, with typed placeholders) and is given the rows. */
export type Asking<T> = Generator<Query, T, Row[]>

export function* ask(sql: string, params: Value[]): Asking<Row[]> {
  return yield { sql, params }
}
