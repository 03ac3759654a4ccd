// Opens a store for the administration commands of `perdure`, whether or not an engine runs on it.

import { existsSync } from 'node:fs'
import { systemRandom } from '../adapters/clock/seeded-random.ts'
import { systemClock } from '../adapters/clock/system.ts'
import { openSqliteAdmin } from '../adapters/sql/sqlite/admin.ts'
import { ConfigError, readStore, storeName } from '../config/config.ts'
import { IdSource } from '../domain/text/ids.ts'
import { Administration } from '../services/admin/administration.ts'

export interface OpenAdministration {
  administration: Administration
  close(): Promise<void>
}

export interface AdministrationOptions {
  /** Creates a missing store. Otherwise a missing store is an error, since its name may be mistyped. */
  create?: boolean
}

/** `store` is a value of `ENGINE_STORE`; undefined: the default. Throws ConfigError if the store cannot be used. */
export async function openAdministration(
  store: string | undefined,
  { create = false }: AdministrationOptions = {},
): Promise<OpenAdministration> {
  const address = readStore(store)
  const { admin, close } =
    address.kind === 'postgres' ? await openDatabase(address.url, create) : await openFile(address.file, create)
  const ids = new IdSource(() => systemRandom.next())
  return { administration: new Administration({ admin, clock: systemClock, ids }), close }
}

function openFile(file: string, create: boolean) {
  if (file === ':memory:')
    throw new ConfigError('ENGINE_STORE (--store) names an in-memory store, which only its own engine can open')
  if (!create && !existsSync(file))
    throw new ConfigError(`ENGINE_STORE (--store) names no store: there is no file ${file}`)
  return openSqliteAdmin(file)
}

async function openDatabase(url: string, create: boolean) {
  const { openPostgresAdmin } = await import('../adapters/sql/postgres/admin.ts')
  const open = await openPostgresAdmin(url, { create })
  if (open) return open
  const name = storeName({ kind: 'postgres', url })
  throw new ConfigError(`ENGINE_STORE (--store) names no store: ${name} has no engine tables`)
}
