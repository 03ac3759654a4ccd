// Opens a PostgreSQL store for administration while engines may be running on it. Called by compose/administration.ts.

import { withoutPassword } from '../../../domain/text/service-url.ts'
import type { Admin } from '../../../ports/admin.ts'
import { openPool, rowsOf } from './client.ts'
import { openPostgresStore } from './store.ts'

/** Returns undefined if there is no store and `create` is false. Rejects if the server cannot be reached. */
export async function openPostgresAdmin(
  url: string,
  { create }: { create: boolean },
): Promise<{ admin: Admin; close(): Promise<void> } | undefined> {
  if (!create && !(await hasStore(url))) return undefined
  const store = await openPostgresStore({ url })
  return { admin: store.admin, close: () => store.close() }
}

async function hasStore(url: string): Promise<boolean> {
  const pool = openPool(url, 1, () => {})
  try {
    const [[found]] = (await rowsOf(pool, `SELECT to_regclass('migrations') IS NOT NULL`)) as unknown as [[boolean]]
    return found
  } catch (cause) {
    throw new Error(`cannot open ${withoutPassword(url)}: ${(cause as Error).message}`, { cause })
  } finally {
    await pool.end()
  }
}
