// Runs the work of a transaction over a PostgreSQL connection. Called by claims.

import type { Work } from '../claims/transaction-work.ts'
import { numbered } from '../description/placeholders.ts'
import { nameOf, type Queryable, rowsOf } from './client.ts'

export async function runWork<T>(client: Queryable, work: Work<T>): Promise<T> {
  let step = work.next()
  while (!step.done) {
    const sql = numbered(step.value.sql)
    step = work.next(await rowsOf(client, sql, step.value.params, nameOf(sql)))
  }
  return step.value
}
