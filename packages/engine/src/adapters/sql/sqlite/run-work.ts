// Drives work that is told as questions, over a connection in the same thread. Used by claims.

import type { Asking } from '../claims/transaction-work.ts'
import type { Connection } from './connection.ts'
import { untyped } from './statements.ts'

/** The work's outcome, each of its questions answered at once. */
export function answered<T>(connection: Connection, work: Asking<T>): T {
  let step = work.next()
  while (!step.done) step = work.next(connection.prepare(untyped(step.value.sql)).all(step.value.params))
  return step.value
}
