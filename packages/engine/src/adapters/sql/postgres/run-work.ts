// Drives work that is told as questions, over a session. Used by claims.

import type { Asking } from '../claims/transaction-work.ts'
import { nameOf, rowsOf, type Session } from './client.ts'
import { numbered } from './placeholders.ts'

/** The work's outcome, each of its questions asked of the server. */
export async function answered<T>(session: Session, work: Asking<T>): Promise<T> {
  let step = work.next()
  while (!step.done) {
    const sql = numbered(step.value.sql)
    step = work.next(await rowsOf(session, sql, step.value.params, nameOf(sql)))
  }
  return step.value
}
