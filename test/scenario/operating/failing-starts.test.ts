// Starts that fail or that a signal ends: the process says why in one line, ends by itself, and leaves no lock behind.

import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { openSqliteStore } from '@perdure/engine'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { LOCKS } from '../../../packages/engine/src/adapters/sql/postgres/write-function.ts'
import {
  EngineProcess,
  freshSchema,
  onCleanup,
  openDatabase,
  openEngine,
  POSTGRES_URL,
  serveToTheEnd,
  tempStoreFile,
  until,
} from '../../kit/index.ts'

const PAGE_BYTES = 8192

/** A store with a catalog, closed. */
async function closedStore(): Promise<string> {
  const engine = await openEngine({ onDisk: true })
  await engine.runner({ workflows: {} })
  await engine.stop()
  return engine.storeFile
}

const sound = await closedStore()
const database = await openDatabase(sound)
const rootPages = database.prepare('SELECT name, rootpage FROM sqlite_schema').all() as {
  name: string
  rootpage: number
}[]

/** A copy of the store with an overwritten table, index or header. */
function damaged(name: string): string {
  const page = name === 'the header' ? 1 : (rootPages.find(each => each.name === name)?.rootpage as number)
  const file = tempStoreFile()
  copyFileSync(sound, file)
  const bytes = readFileSync(file)
  bytes.fill(0x5a, (page - 1) * PAGE_BYTES, page * PAGE_BYTES)
  writeFileSync(file, bytes)
  return file
}

const DAMAGE: [where: string, says: RegExp][] = [
  ['the header', /cannot open .*engine\.db: file is not a database/],
  ['migrations', /cannot open .*engine\.db: database disk image is malformed/],
  ['runs_leased', /database disk image is malformed/],
  ['workflows', /database disk image is malformed/],
  ['namespaces', /database disk image is malformed/],
]

test('a damaged page anywhere: exit code 2, the reason in one line, and the lock is free', async () => {
  const stores = DAMAGE.map(([where]) => damaged(where))
  const exits = await Promise.all(stores.map(storeFile => serveToTheEnd({ storeFile })))
  for (const [i, [where, says]] of DAMAGE.entries()) {
    expect(exits[i], where).toMatchObject({ code: 2, signal: null, stdout: '' })
    const line = exits[i]?.stderr.split('\n').find(each => each.startsWith('perdure: '))
    expect(line, where).toMatch(says)
    copyFileSync(sound, stores[i] as string)
    await (await openSqliteStore({ file: stores[i] as string })).close()
  }
})

test('a PostgreSQL that refuses: exit code 2, with the reason', async () => {
  const refused = await serveToTheEnd({ storeFile: 'postgres://ada:hidden-word@127.0.0.1:1/none' })
  expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/^perdure: [^\n]*ECONNREFUSED/) })
  expect(refused.stderr).not.toContain('hidden-word')
})

test('SIGTERM ends a start that waits for the migration of another engine', async () => {
  const url = await freshSchema()
  const schema = new URL(url).searchParams.get('application_name')
  const client = new Client({ connectionString: POSTGRES_URL })
  await client.connect()
  onCleanup(() => client.end())
  await client.query(`SELECT pg_advisory_lock(${LOCKS.migrate}, hashtext($1))`, [schema])
  const engine = new EngineProcess({ storeFile: url })
  const started = engine.start().catch((error: Error) => error.message)
  await until(async () => {
    const waiting = `SELECT 1 FROM pg_locks WHERE NOT granted AND classid = ${LOCKS.migrate}
      AND objid::bigint = hashtext($1)::bigint & 4294967295`
    return (await client.query(waiting, [schema])).rowCount
  })
  const exit = await engine.sigterm()
  expect(exit).toMatchObject({ code: 0, signal: null, stdout: '' })
  expect(exit.stderr).toBe('perdure: ended by SIGTERM before the engine had started\n')
  expect(await started).toContain('ended before it listened')
})
