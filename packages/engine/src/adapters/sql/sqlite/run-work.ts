// Runs the work of a transaction over a SQLite connection. Called by claims.

import type { Work } from '../claims/transaction-work.ts'
import type { Connection } from './connection.ts'
import { untyped } from './statements.ts'

export function runWork<T>(connection: Connection, work: Work<T>): T {
  let step = work.next()
  while (!step.done) step = work.next(connection.prepare(untyped(step.value.sql)).all(step.value.params))
  return step.value
}
