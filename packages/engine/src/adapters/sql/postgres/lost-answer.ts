// How long an answer of PostgreSQL is waited for: as long as the server works on it. A way that swallows all (a server
// without power, a firewall that has forgotten the connection) gives no error for many minutes; here it does in seconds.

import type { ClientBase } from 'pg'
import { end, openSession, rowsOf } from './client.ts'

/** An answer that has not come by then is asked after, and again as long as there is none. */
const ASK_AFTER_MS = 3000
/** To reach the server anew, and to get an answer there. */
const ASK_MS_MAX = 3000
/** Ended just now, its answer may be on its way. */
const STILL_COMING = `interval '${ASK_AFTER_MS} ms'`
/** Class of the errors with which a server refuses that has no room for another session. */
const TOO_MANY = '53'
const IS_WORKED_ON = `SELECT 1 FROM pg_stat_activity WHERE pid = $1
  AND (state = 'active' OR state_change > clock_timestamp() - ${STILL_COMING})`

/**
 * The answer. Rejects when there is none and another session finds that the server does not work on it, or cannot be
 * reached: then nobody knows what became of the question, and the client is of no use any more.
 */
export async function answerTo<T>(client: ClientBase, url: string, answer: Promise<T>): Promise<T> {
  for (;;) {
    const come = await within(answer, ASK_AFTER_MS)
    if (come) return come.value
    // It may still come while its session is asked after.
    const asking = isWorkedOn(client, url)
    const first = await Promise.race([answer.then(value => ({ value })), asking])
    if (typeof first === 'object') return first.value
    if (!first) throw new Error('Connection to the store gives no sign of life')
  }
}

async function within<T>(answer: Promise<T>, ms: number): Promise<{ value: T } | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>(resolve => {
    timer = setTimeout(resolve, ms, undefined)
  })
  try {
    return await Promise.race([answer.then(value => ({ value })), late])
  } finally {
    clearTimeout(timer)
  }
}

/** Also true when the server is there but takes no more sessions. */
async function isWorkedOn(client: ClientBase, url: string): Promise<boolean> {
  const { processID } = client as ClientBase & { processID: number | null }
  try {
    const bounds = { connectMsMax: ASK_MS_MAX, answerMsMax: ASK_MS_MAX }
    const session = await openSession(url, () => {}, bounds)
    try {
      return (await rowsOf(session, IS_WORKED_ON, [processID])).length > 0
    } finally {
      void end(session)
    }
  } catch (error) {
    return String((error as { code?: unknown }).code).startsWith(TOO_MANY)
  }
}
