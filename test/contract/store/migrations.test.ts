// A schema grows in steps: a store of an older version gets the columns, indexes and tables of later versions, and keeps its
// rows. On both dialects.

import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { optional, since, text } from '../../../packages/engine/src/adapters/sql/description/column.ts'
import { type DdlDialect, schemaSteps } from '../../../packages/engine/src/adapters/sql/description/ddl.ts'
import { type TableSchema, table } from '../../../packages/engine/src/adapters/sql/description/table.ts'
import { openClient } from '../../../packages/engine/src/adapters/sql/postgres/client.ts'
import * as postgres from '../../../packages/engine/src/adapters/sql/postgres/migrations.ts'
import { openPostgresStore } from '../../../packages/engine/src/adapters/sql/postgres/store.ts'
import { Connection } from '../../../packages/engine/src/adapters/sql/sqlite/connection.ts'
import * as sqlite from '../../../packages/engine/src/adapters/sql/sqlite/migrations.ts'
import { openSqliteStore } from '../../../packages/engine/src/adapters/sql/sqlite/store.ts'
import { EVENTS } from '../../../packages/engine/src/adapters/sql/tables/events.ts'
import { RUNS } from '../../../packages/engine/src/adapters/sql/tables/runs.ts'
import { TABLES } from '../../../packages/engine/src/adapters/sql/tables/tables.ts'
import { onCleanup } from '../../kit/cleanup.ts'
import { freshSchema } from '../../kit/servers/postgres.ts'
import { tempStoreFile } from '../../kit/temp.ts'
import { anEvent, NS, write } from './samples.ts'

const NEXT_VERSION = sqlite.SCHEMA_VERSION + 1
const added = since(NEXT_VERSION, optional(text))
/** The tables of a later version: one more column with an index, and one more table. */
const NEXT: TableSchema[] = [
  ...TABLES.filter(({ name }) => name !== EVENTS.name),
  {
    ...EVENTS,
    schema: [...EVENTS.schema, { name: 'added', field: 'added', column: added }],
    indexes: { ...EVENTS.indexes, events_added: { on: 'added', since: NEXT_VERSION } },
  },
  table<{ id: string }>()('notes', { key: ['id'], fixed: { id: text }, since: NEXT_VERSION }),
]

const nextSteps = (dialect: DdlDialect) => schemaSteps(dialect, NEXT)
const digest = (sql = '') => createHash('sha256').update(sql).digest('hex').slice(0, 12)

describe('the steps of a schema', () => {
  test.each([
    ['SQLite', sqlite.MIGRATIONS, ['b0301367f5f3', '669cf04a7293', '3f866eb38340']],
    ['PostgreSQL', postgres.MIGRATIONS, ['e35b6e2b7c79', '50f78f78716a', 'b47c4d39f095']],
  ])(
    'of %s are the ones that stores were made with: an addition names the version it is `since`',
    (_, steps, expected) => {
      expect(steps.map(digest)).toEqual(expected)
    },
  )

  test.each([
    ['SQLite', sqlite.SQLITE_DDL, sqlite.MIGRATIONS],
    ['PostgreSQL', postgres.POSTGRES_DDL, postgres.MIGRATIONS],
  ])('of %s stay as they are when a later version adds to its tables', (_, dialect, steps) => {
    const next = nextSteps(dialect)
    // The tables of one step are created in the order of the list.
    const sorted = (sql: string) => sql.split('\n').sort()
    expect(next.slice(0, -1).map(sorted)).toEqual(steps.map(sorted))
    expect(next.at(-1)).toContain('ALTER TABLE events ADD COLUMN added')
  })
})

describe('a store of the first version', () => {
  /** Writes an event as an engine of the first version would. */
  const insert = (id: string) => `INSERT INTO events (id, namespace, name, source, received_at, woke, triggered)
    VALUES ('${id}', '${NS}', 'order/placed', 'api', 1000, 0, '[]')`
  const shown = { name: 'order/placed', source: 'api', receivedAt: 1000, woke: 0, triggered: [] }

  test('on SQLite is brought to this one, and keeps its rows', async () => {
    const file = tempStoreFile()
    const connection = await Connection.open(file, { readOnly: false })
    sqlite.migrate(connection, sqlite.MIGRATIONS.slice(0, 1))
    connection.exec(insert('evt_1'))
    connection.close()
    const store = await openSqliteStore({ file })
    onCleanup(() => store.close())
    await write(store, { type: 'event.recorded', event: anEvent({ erased: true }) })
    expect(await store.in(NS).event('evt_1')).toMatchObject(shown)
  })

  test('on PostgreSQL is brought to this one while an engine of the first version writes on', async () => {
    const url = await freshSchema()
    const client = await openClient(url, () => {})
    onCleanup(() => client.end())
    await postgres.migrate(client, postgres.MIGRATIONS.slice(0, 1))
    await client.query(insert('evt_1'))
    const store = await openPostgresStore({ url })
    onCleanup(() => store.close())
    await client.query(insert('evt_2'))
    await write(store, { type: 'event.recorded', event: anEvent({ erased: true }) })
    for (const id of ['evt_1', 'evt_2']) expect(await store.in(NS).event(id)).toMatchObject(shown)
  })
})

describe('runs of the version before kinds get theirs: those of failures', () => {
  const KINDS = 'SELECT id, kind FROM runs ORDER BY id'
  const expected = [
    ['run_child', null],
    ['run_failure', 'onFailure'],
  ]
  /** Inserts a run with values for all columns that are required in that version. */
  const insert = (id: string, failure: string) => {
    const columns = RUNS.schema.filter(({ column }) => (column.since ?? 1) <= 2 && !column.isNullable)
    const sampleOf = (type: string) => (type === 'text' ? `'[]'` : '0')
    const values = columns.map(({ name, column }) => (name === 'id' ? `'${id}'` : sampleOf(column.type)))
    const names = columns.map(({ name }) => name)
    return `INSERT INTO runs (${names.join(', ')}, failure) VALUES (${values.join(', ')}, ${failure})`
  }
  const INSERTS = [insert('run_child', 'NULL'), insert('run_failure', `'{}'`)]

  test('on SQLite', async () => {
    const connection = await Connection.open(tempStoreFile(), { readOnly: false })
    onCleanup(() => connection.close())
    sqlite.migrate(connection, sqlite.MIGRATIONS.slice(0, 2))
    for (const sql of INSERTS) connection.exec(sql)
    sqlite.migrate(connection)
    expect(connection.prepare(KINDS).all([])).toEqual(expected)
  })

  test('on PostgreSQL', async () => {
    const client = await openClient(await freshSchema(), () => {})
    onCleanup(() => client.end())
    await postgres.migrate(client, postgres.MIGRATIONS.slice(0, 2))
    for (const sql of INSERTS) await client.query(sql)
    await postgres.migrate(client)
    const { rows } = await client.query<{ id: string; kind: string | null }>(KINDS)
    expect(rows.map(({ id, kind }) => [id, kind])).toEqual(expected)
  })
})

test('a SQLite store gets the next version, keeps its rows, and is then for newer engines alone', async () => {
  const file = tempStoreFile()
  const before = await openSqliteStore({ file })
  const event = anEvent()
  await write(before, { type: 'event.recorded', event })
  await before.close()
  const connection = await Connection.open(file, { readOnly: false })
  sqlite.migrate(connection, nextSteps(sqlite.SQLITE_DDL))
  const ids = connection.prepare('SELECT id FROM events WHERE added IS NULL').all([])
  expect(ids).toEqual([[event.id]])
  connection.prepare('UPDATE events SET added = ?').run(['x'])
  connection.prepare('INSERT INTO notes VALUES (?)').run(['a'])
  expect(sqlite.schemaVersion(connection)).toBe(NEXT_VERSION)
  connection.close()
  await expect(openSqliteStore({ file })).rejects.toThrow(
    `schema version ${NEXT_VERSION}, but this engine supports only versions up to ${sqlite.SCHEMA_VERSION}: use a newer engine`,
  )
})

test('a PostgreSQL store gets the next version while its engine works on', async () => {
  const url = await freshSchema()
  const before = await openPostgresStore({ url })
  onCleanup(() => before.close())
  const event = anEvent()
  await write(before, { type: 'event.recorded', event })
  const client = await openClient(url, () => {})
  onCleanup(() => client.end())
  await postgres.migrate(client, nextSteps(postgres.POSTGRES_DDL))
  await client.query(`UPDATE events SET added = 'x'; INSERT INTO notes VALUES ('a')`)
  const { rows } = await client.query('SELECT version::int, needs::int FROM migrations ORDER BY version')
  const versions = Array.from({ length: NEXT_VERSION }, (_, i) => i + 1)
  expect(rows).toEqual(versions.map(version => ({ version, needs: postgres.NEEDS_VERSION })))
  const later = anEvent()
  await write(before, { type: 'event.recorded', event: later })
  for (const each of [event, later]) expect(await before.in(NS).event(each.id)).toEqual(each)
  // An engine of the version before may also start on it, because the migration only adds.
  await (await openPostgresStore({ url })).close()
})
