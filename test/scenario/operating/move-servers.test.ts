// `perdure move`: everything in a store is in the other one afterwards, and its engine continues there.

import { moveStore } from '@perdure/engine'
import { expect, test } from 'vitest'
import { ran } from '../../../packages/cli/src/ran.testkit.ts'
import { openPostgresSide } from '../../../packages/engine/src/adapters/sql/move/postgres-side.ts'
import {
  flow,
  freshSchema,
  type Invoke,
  jsonLines,
  openDatabase,
  openEngine,
  run,
  step,
  tempStoreFile,
  unique,
  until,
  wait,
} from '../../kit/index.ts'
import { callbackUrl } from '../../kit/runner/wire.ts'

type Row = Record<string, string | number | null>

const sqlite = (file: string) => `sqlite:${file}`

async function moved(from: string, to: string, options = {}) {
  const progress = []
  for await (const each of moveStore({ from, to }, options)) progress.push(each)
  return progress
}

/** A store that an engine has created and closed. */
async function madeStore(): Promise<string> {
  const { storeFile, stop } = await openEngine({ onDisk: true })
  await stop()
  return storeFile
}

/** Every row of every table, by the schema that the database itself reports. */
async function contentsOf(file: string): Promise<Record<string, unknown[]>> {
  const database = await openDatabase(file)
  const rows = (sql: string) => database.prepare(sql).all() as Row[]
  const tables = rows(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('sqlite_sequence', 'engine_claim') ORDER BY name",
  )
  const contents = tables.map(({ name }) => [
    name,
    rows(`SELECT * FROM ${name}`)
      .map(row => JSON.stringify(row))
      .sort(),
  ])
  return { ...Object.fromEntries(contents), sequences: rows('SELECT * FROM sqlite_sequence ORDER BY name') }
}

/** Values that a copy could change: the stored forms of a NUL and of a lone surrogate, long texts, numbers of every kind. */
const TEXTS = ['plain', '\u001a"\\u0000"', '\u001a"\\ud800"', 'it\'s {a,b} \\N "q" 😀', 'NULL', '', 'x'.repeat(3000)]
const KEYS = TEXTS.map((text, i) => (text.startsWith('\u001a') ? text : `${text.slice(0, 30)}${i}`))
const NUMBERS = { INTEGER: [0, -1, 2 ** 30], REAL: [0.1, -1e300, 5] }

/** Inserts rows into every table, with every value in every column that allows it. */
async function fill(file: string): Promise<void> {
  const database = await openDatabase(file)
  const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all() as { name: string }[]
  for (const { name } of tables) {
    if (name === 'migrations' || name === 'engine_claim' || name.startsWith('sqlite_')) continue
    const columns = database.prepare(`PRAGMA table_info(${name})`).all() as {
      name: string
      type: string
      notnull: number
    }[]
    const isOnly = (database.prepare(`SELECT count(*) AS n FROM ${name}`).all() as [{ n: number }])[0].n === 1
    if (isOnly) database.exec(`DELETE FROM ${name}`)
    for (let i = 0; i < (isOnly ? 1 : TEXTS.length); i++) {
      const values = columns.map(column => {
        if (isOnly && column.name === 'id') return 1
        if (column.name === 'position') return 10 * (i + 1)
        if (!column.notnull && i === 1) return null
        // Keys differ from row to row, and are short enough for an index.
        if (column.type === 'TEXT') return /data|body|state|input/.test(column.name) ? TEXTS[i] : KEYS[i]
        return NUMBERS[column.type as 'INTEGER' | 'REAL'][i % 3]
      })
      database
        .prepare(`INSERT INTO ${name} (${columns.map(column => column.name)}) VALUES (${columns.map(() => '?')})`)
        .run(...values)
    }
  }
  // More than a page holds.
  database.exec(
    "UPDATE payloads SET body = replace(hex(zeroblob(1500000)), '00', 'yz') WHERE body LIKE 'xx%' OR body = ''",
  )
  database.exec("UPDATE sqlite_sequence SET seq = 5000 WHERE name = 'events'")
}

test('every row of every table is there after the way to PostgreSQL and back', async () => {
  const [first, second, between] = [await madeStore(), tempStoreFile(), await freshSchema()]
  await fill(first)
  const steps = await moved(sqlite(first), between)
  await moved(between, sqlite(second))
  const contents = await contentsOf(first)
  expect(await contentsOf(second)).toEqual(contents)
  const compared = steps.flatMap(each => (each.step === 'compared' ? [each.table] : []))
  const { migrations, sequences, ...tables } = contents
  expect(compared.sort()).toEqual(Object.keys(tables))
  for (const [table, rows] of Object.entries(tables)) expect(rows.length, table).toBeGreaterThan(0)
})

test('the engine goes on in the other store, and back again; events keep their order with the runs', async () => {
  const [home, other] = [tempStoreFile(), await freshSchema()]
  const [name, eventName, early] = [unique('held'), unique('go'), unique('early')]
  const workflows = {
    [name]: flow([
      wait('first', eventName),
      wait('second', early),
      wait('third', eventName),
      step('WaitForCallback', 'mailed', {}),
      run('then'),
    ]),
  }
  const features = ['callbacks']
  const first = await openEngine({ storeFile: home })
  const runner = await first.runner({ workflows })
  await runner.register(first.api, { features })
  await first.api.send({ name: eventName })
  const { runId } = await first.api.send({ name })
  await first.api.reaches(runId, 'waiting')
  const [invoke] = runner.record.of(runId) as [Invoke]
  const mailed = new URL(callbackUrl(invoke.ctx, 'mailed')).pathname
  await first.stop()
  // Deletes like retention: the positions of these events stay used.
  const database = await openDatabase(home)
  database.exec('DELETE FROM events')
  const out = await ran(['move', '--from', sqlite(home), '--to', other, '--json'])
  expect(out).toMatchObject({ code: 0 })
  expect(jsonLines(out.stdout)).toContainEqual({ step: 'compared', table: 'runs', rows: 1 })
  const second = await openEngine({ storeFile: other })
  await second.runner({ workflows })
  // This event comes before its wait, which looks back at the positions since its run.
  await second.api.send({ name: early })
  expect((await second.api.send({ name: eventName })).woke).toBe(1)
  await until(async () => (await second.api.steps(runId)).at(-1)?.name === 'third')
  await second.api.reaches(runId, 'waiting')
  await second.stop()
  const back = tempStoreFile()
  await moved(other, sqlite(back))
  const third = await openEngine({ storeFile: back })
  await (await third.runner({ workflows })).register(third.api, { features })
  expect((await third.api.send({ name: eventName })).woke).toBe(1)
  // The URL that was given away before both moves.
  expect((await third.api.post(mailed, { ok: true })).status).toBe(202)
  expect((await third.api.succeeded(runId)).result).toMatchObject({ mailed: { ok: true } })
})

test('a move that was cut goes on; until it has ended no engine opens its target', async () => {
  const [from, to] = [await madeStore(), await freshSchema()]
  await fill(from)
  const rowsMax = 2
  const pages = []
  for await (const each of moveStore({ from: sqlite(from), to }, { rowsMax })) {
    if (pages.push(each) === 20) break
  }
  await expect(openEngine({ storeFile: to })).rejects.toThrow('a move into this store is not finished')
  const rest = (await moved(sqlite(from), to, { rowsMax })).filter(({ step }) => step === 'copied')
  expect(rest).not.toContainEqual(pages[0])
  await expect(moved(sqlite(from), to)).rejects.toThrow('is not empty')
  const back = tempStoreFile()
  for await (const _ of moveStore({ from: to, to: sqlite(back) }, { rowsMax })) break
  await expect(openEngine({ storeFile: back })).rejects.toThrow('a move into this store is not finished')
})

test('a source that has changed since the cut is noticed, and the move begins anew', async () => {
  const [from, to] = [await madeStore(), await freshSchema()]
  await fill(from)
  for await (const { step } of moveStore({ from: sqlite(from), to })) if (step === 'compared') break
  const database = await openDatabase(from)
  database.exec("UPDATE runs SET attempt = 77 WHERE id LIKE 'plain%'")
  await expect(moved(sqlite(from), to)).rejects.toThrow('runs differs (7 rows each)')
  await expect(moved(sqlite(await madeStore()), to)).rejects.toThrow('a move from another store')
  await moved(sqlite(from), to, { restart: true })
})

test('neither side may have an engine, and no engine opens a store that is moved', async () => {
  const [engine, other] = [await openEngine({ onDisk: true }), await freshSchema()]
  await expect(moved(engine.store, other)).rejects.toThrow('another engine is running')
  await engine.stop()
  await moved(engine.store, other)
  const shared = await openEngine({ storeFile: other })
  await shared.api.send({ name: 'any' })
  await expect(moved(other, sqlite(tempStoreFile()))).rejects.toThrow('an engine is running on it')
  await shared.stop()
  const side = await openPostgresSide(other, 'source')
  await expect(openEngine({ storeFile: other })).rejects.toThrow('a move is using the store')
  await side.close()
})
