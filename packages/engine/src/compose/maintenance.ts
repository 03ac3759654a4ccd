// The work of the `perdure` command on a whole store: verify, backup, restore, move.

import { type MoveOptions, type MoveProgress, move } from '../adapters/sql/move/move.ts'
import type { MoveRole } from '../adapters/sql/move/role.ts'
import type { MoveSide } from '../adapters/sql/move/side.ts'
import { openSqliteSide } from '../adapters/sql/move/sqlite-side.ts'
import { type BackupOptions, backupFile, type CopyOptions, restoreFile } from '../adapters/sql/sqlite/backup.ts'
import { openSqliteSnapshot } from '../adapters/sql/sqlite/snapshot.ts'
import type { Violation } from '../adapters/sql/verify/check.ts'
import { verify } from '../adapters/sql/verify/verify.ts'
import { ConfigError, readStore, storeName } from '../config/config.ts'

export type { CopyOptions, MoveProgress, Violation }

/**
 * Checks every rule that the store must keep, and yields each violation as it is found. Only reads, at one moment. `store` is
 * a value of `ENGINE_STORE`. Throws ConfigError if it names no store that can be opened.
 */
export async function* verifyStore(store: string | undefined): AsyncGenerator<Violation> {
  const address = readStore(store)
  const snapshot = await (address.kind === 'postgres'
    ? import('../adapters/sql/postgres/snapshot.ts').then(postgres => postgres.openPostgresSnapshot(address.url))
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

/** Copies a SQLite store to a file, even while its engine runs; returns the size in bytes. Rejects as `backupFile` does. */
export async function backupStore(store: string | undefined, to: string, options: BackupOptions = {}): Promise<number> {
  return backupFile(fileOf(store, 'pg_dump'), to, options)
}

/** Puts a backup in the place of a SQLite store that no engine has open. Rejects as `restoreFile` does. */
export async function restoreStore(store: string | undefined, from: string, options: CopyOptions = {}): Promise<void> {
  await restoreFile(fileOf(store, 'pg_restore'), from, options)
}

/**
 * Copies everything from the store `from` into the empty store `to`, each SQLite or PostgreSQL, and compares both. No engine may
 * have either open. Called again after an interruption, it continues where it stopped. Throws ConfigError if a store cannot be
 * used.
 */
export async function* moveStore(
  { from, to }: { from: string; to: string },
  options: MoveOptions = {},
): AsyncGenerator<MoveProgress> {
  if (from === to) throw new ConfigError('--from and --to name the same store')
  const source = await openSide(from, 'source')
  try {
    const target = await openSide(to, 'target')
    try {
      yield* move(source, target, options)
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

async function openSide(store: string, role: MoveRole): Promise<MoveSide> {
  const flag = role === 'source' ? '--from' : '--to'
  const address = readStore(store, flag)
  if (address.kind === 'sqlite' && address.file === ':memory:')
    throw new ConfigError(`${flag} names an in-memory store, which only its own engine can open`)
  const opening =
    address.kind === 'postgres'
      ? import('../adapters/sql/move/postgres-side.ts').then(postgres => postgres.openPostgresSide(address.url, role))
      : openSqliteSide(address.file, role)
  return opening.catch(cause => {
    throw new ConfigError(`${flag} ${storeName(address)}: ${(cause as Error).message}`)
  })
}

function fileOf(store: string | undefined, instead: string): string {
  const address = readStore(store)
  if (address.kind === 'postgres')
    throw new ConfigError(`ENGINE_STORE (--store) ${storeName(address)} is PostgreSQL: use ${instead}`)
  if (address.file === ':memory:')
    throw new ConfigError('ENGINE_STORE (--store) names an in-memory store, which only its own engine can open')
  return address.file
}
