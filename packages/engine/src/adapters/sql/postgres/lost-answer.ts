// Waits for an answer of PostgreSQL while the server works on it. When a network drops all packets (a server without power, a
// firewall that has forgotten the connection), no error is reported for many minutes; with this check it fails within seconds.

import type { ClientBase } from 'pg'
import { within } from '../../../base/within.ts'
import { end, openClient, rowsOf } from './client.ts'
import { backendOf } from './pooler.ts'

/** Interval of the checks whether the server still works on the query. */
const CHECK_EVERY_MS = 3000
/** Time for a check to connect, and time for it to get its answer. */
const CHECK_MS_MAX = 3000
/** The answer to a query that ended this recently may still be on its way. */
const ANSWER_ON_ITS_WAY = `interval '${CHECK_EVERY_MS} ms'`
/** SQLSTATE class of a server that has no room for another connection. */
const TOO_MANY_CONNECTIONS = '53'
const IS_WORKED_ON = `SELECT 1 FROM pg_stat_activity WHERE pid = $1
  AND (state = 'active' OR state_change > clock_timestamp() - ${ANSWER_ON_ITS_WAY})`

/**
 * Resolves with the answer. Rejects if another connection finds that the server does not work on the query, or cannot be reached:
 * the effect of the query is then unknown, and the client can no longer be used.
 */
export async function answerTo<T>(client: ClientBase, url: string, answer: Promise<T>): Promise<T> {
  for (;;) {
    const arrived = await within(CHECK_EVERY_MS, answer)
    if (arrived) return arrived.value
    // The answer may still come while the other connection checks.
    const checking = isWorkedOn(client, url)
    const first = await Promise.race([answer.then(value => ({ value })), checking])
    if (typeof first === 'object') return first.value
    if (!first) throw new Error('Connection to the store lost: the server does not work on the query')
  }
}

/** Also true if the server is there but accepts no more connections. */
async function isWorkedOn(client: ClientBase, url: string): Promise<boolean> {
  try {
    const bounds = { connectMsMax: CHECK_MS_MAX, answerMsMax: CHECK_MS_MAX, trustsPooler: true }
    const other = await openClient(url, () => {}, bounds)
    try {
      return (await rowsOf(other, IS_WORKED_ON, [backendOf(client) ?? null])).length > 0
    } finally {
      void end(other)
    }
  } catch (error) {
    return String((error as { code?: unknown }).code).startsWith(TOO_MANY_CONNECTIONS)
  }
}
