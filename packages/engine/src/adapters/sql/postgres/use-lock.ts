// The lock that shows whether a schema is in use. Each writer of an engine shares it while its connection lives. A move, which
// needs the store for itself, takes it exclusively. The server releases it with the connection, however that ends.

import { type Queryable, rowsOf } from './client.ts'
import { LOCKS } from './write-function.ts'

const KEY = `${LOCKS.use}, hashtext(current_schema())`
/** SQLSTATE of a lock that is not available: the store counts as unavailable until the move has ended. */
const LOCK_NOT_AVAILABLE = '55P03'

/** Rejects while a move is using the store. */
export async function shareStore(client: Queryable): Promise<void> {
  const [row] = await rowsOf(client, `SELECT pg_try_advisory_lock_shared(${KEY})::int`)
  if (row?.[0] !== 1) throw Object.assign(new Error('a move is using the store'), { code: LOCK_NOT_AVAILABLE })
}

/** Rejects while an engine, or another command that writes, has the store open. */
export async function takeWholeStore(client: Queryable): Promise<void> {
  const [row] = await rowsOf(client, `SELECT pg_try_advisory_lock(${KEY})::int`)
  if (row?.[0] !== 1) throw new Error('an engine is running on it: stop every engine of the store first')
}
