// Administration of a SQLite file while an engine runs on it: one more connection, from any process.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openSqliteAdmin } from '../../../../packages/engine/src/adapters/sql/sqlite/admin.ts'
import { loadSqlite } from '../../../../packages/engine/src/adapters/sql/sqlite/module.ts'
import { openSqliteStore } from '../../../../packages/engine/src/adapters/sql/sqlite/store.ts'
import { aKey } from '../resources/admin.ts'
import { aRun, created, NOW, write } from '../samples.ts'

const root = mkdtempSync(join(tmpdir(), 'perdure-admin-'))
let files = 0
const freshFile = () => join(root, String(files++), 'engine.db')

afterAll(() => rmSync(root, { recursive: true, force: true }))

const ids = async (admin: { keys(): Promise<{ id: string }[]> }) => (await admin.keys()).map(({ id }) => id)

it('makes the first key before any engine has run, and the engine finds it', async () => {
  const file = freshFile()
  const { admin, close } = await openSqliteAdmin(file)
  await admin.addKey(aKey())
  await close()
  const store = await openSqliteStore({ file })
  expect(await store.admin.keys()).toEqual([aKey()])
  await store.close()
})

it('works beside a running engine, which sees each write and keeps its lock', async () => {
  const file = freshFile()
  const store = await openSqliteStore({ file })
  const { admin, close } = await openSqliteAdmin(file)
  await admin.addKey(aKey())
  expect(await ids(store.admin)).toEqual(['key_1'])
  await store.admin.addKey(aKey({ id: 'key_2' }))
  expect(await ids(admin)).toEqual(['key_1', 'key_2'])
  await expect(openSqliteStore({ file })).rejects.toThrow('another engine')
  await close()
  await expect(openSqliteStore({ file })).rejects.toThrow('another engine')
  await store.admin.suspend('acme', NOW)
  await store.close()
})

it('writes while an engine is busy writing: neither loses a write', async () => {
  const file = freshFile()
  const store = await openSqliteStore({ file })
  // Another process, like the command: locks between processes differ from those between threads.
  const other = fork(join(import.meta.dirname, 'administrator.ts'), [file, '10'], {
    execArgv: ['--import', 'tsx', '--conditions', 'perdure-source'],
  })
  let administering = true
  const administered = once(other, 'exit').then(([code]) => {
    administering = false
    return code
  })
  const runs: string[] = []
  while (administering) {
    const burst = Array.from({ length: 20 }, () => aRun())
    await Promise.all(burst.map(run => write(store, created(run))))
    runs.push(...burst.map(({ id }) => id))
  }
  expect(await administered).toBe(0)
  expect(await ids(store.admin)).toHaveLength(10)
  expect(runs.length).toBeGreaterThan(0)
  // One after the other, because a store refuses too many calls at once.
  for (const id of runs) expect(await store.loadRun(id)).toBeDefined()
  await store.close()
})

it('creates a new database together with others: all of them succeed', async () => {
  const file = freshFile()
  const administrators = Array.from({ length: 3 }, async (_, i) => {
    const { admin, close } = await openSqliteAdmin(file)
    await admin.addKey(aKey({ id: `key_${i}` }))
    await close()
  })
  await Promise.all(administrators)
  const store = await openSqliteStore({ file })
  expect(await ids(store.admin)).toEqual(['key_0', 'key_1', 'key_2'])
  await store.close()
})

it('refuses a database of a newer engine', async () => {
  const file = freshFile()
  await (await openSqliteStore({ file })).close()
  const { DatabaseSync } = await loadSqlite()
  const database = new DatabaseSync(file)
  database.exec('INSERT INTO migrations VALUES (1000)')
  database.close()
  await expect(openSqliteAdmin(file)).rejects.toThrow('use a newer engine')
})
