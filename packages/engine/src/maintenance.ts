// The work of the `perdure` command on a whole store: verify, backup, restore. An engine may run on the store.

import { openPostgresSnapshot } from './adapters/sql/postgres/snapshot.ts'
import { backupFile, type CopyOptions, restoreFile } from './adapters/sql/sqlite/backup.ts'
import { openSqliteSnapshot } from './adapters/sql/sqlite/snapshot.ts'
import type { Violation } from './adapters/sql/verify/check.ts'
import { verify } from './adapters/sql/verify/verify.ts'
import { ConfigError, readStore, storeName } from './config/config.ts'

export type { CopyOptions, Violation }

/**
 * Checks every rule that the store must keep, and yields each violation as it is found. Only reads, at one moment. `store` is
 * a value of `ENGINE_STORE`. Throws ConfigError if it names no store that can be opened.
 */
export async function* verifyStore(store: string | undefined): AsyncGenerator<Violation> {
  const address = readStore(store)
  const snapshot = await (address.kind === 'postgres'
    ? openPostgresSnapshot(address.url)
    : openSqliteSnapshot(address.file)
  ).catch(cause => {
    throw new ConfigError(`ENGINE_STORE (--store) ${storeName(address)}: ${(cause as Error).message}`)
  })
  try {
    yield* verify(snapshot)
  } finally {
    await snapshot.close()
  }
}

/** Copies a SQLite store to a file, while its engine may run; answers the size in bytes. Rejects as `backupFile` does. */
export async function backupStore(store: string | undefined, to: string, options: CopyOptions = {}): Promise<number> {
  return backupFile(fileOf(store, 'pg_dump'), to, options)
}

/** Puts a backup in the place of a SQLite store that no engine has open. Rejects as `restoreFile` does. */
export async function restoreStore(store: string | undefined, from: string, options: CopyOptions = {}): Promise<void> {
  await restoreFile(fileOf(store, 'pg_restore'), from, options)
}

function fileOf(store: string | undefined, instead: string): string {
  const address = readStore(store)
  if (address.kind === 'postgres')
    throw new ConfigError(`ENGINE_STORE (--store) ${storeName(address)} is PostgreSQL: use ${instead}`)
  if (address.file === ':memory:') throw new ConfigError('ENGINE_STORE (--store) is in the memory of its engine')
  return address.file
}
