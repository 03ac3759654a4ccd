// A schema grows by steps: a store of an older version gets the columns, indexes and tables that later versions added, and
// keeps its rows. On both dialects.

import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { optional, since, text } from '../../../packages/engine/src/adapters/sql/description/column.ts'
import { type DdlDialect, schemaSteps } from '../../../packages/engine/src/adapters/sql/description/ddl.ts'
import { type TableSchema, table } from '../../../packages/engine/src/adapters/sql/description/table.ts'
import { openSession } from '../../../packages/engine/src/adapters/sql/postgres/client.ts'
import * as postgres from '../../../packages/engine/src/adapters/sql/postgres/migrations.ts'
import { openPostgresStore } from '../../../packages/engine/src/adapters/sql/postgres/store.ts'
import { Connection } from '../../../packages/engine/src/adapters/sql/sqlite/connection.ts'
import * as sqlite from '../../../packages/engine/src/adapters/sql/sqlite/migrations.ts'
import { openSqliteStore } from '../../../packages/engine/src/adapters/sql/sqlite/store.ts'
import { EVENTS } from '../../../packages/engine/src/adapters/sql/tables/events.ts'
import { TABLES } from '../../../packages/engine/src/adapters/sql/tables/tables.ts'
import { onCleanup } from '../../kit/cleanup.ts'
import { freshSchema } from '../../kit/servers/postgres.ts'
import { tempStoreFile } from '../../kit/temp.ts'
import { anEvent, NS, write } from './samples.ts'

const added = since(2, optional(text))
/** The tables of a next version: a column with an index, and a table. */
const NEXT: TableSchema[] = [
  ...TABLES.filter(({ name }) => name !== EVENTS.name),
  {
    ...EVENTS,
    schema: [...EVENTS.schema, { name: 'added', field: 'added', column: added }],
    indexes: { ...EVENTS.indexes, events_added: { on: 'added', since: 2 } },
  },
  table<{ id: string }>()('notes', { key: ['id'], fixed: { id: text }, since: 2 }),
]

const nextSteps = (dialect: DdlDialect) => schemaSteps(dialect, NEXT)
const digest = (sql = '') => createHash('sha256').update(sql).digest('hex').slice(0, 12)

describe('the steps of a schema', () => {
  test.each([
    ['SQLite', sqlite.MIGRATIONS, ['690854a45693']],
    ['PostgreSQL', postgres.MIGRATIONS, ['698829124c9b']],
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
    const [first, second, ...more] = nextSteps(dialect)
    // Tables of the first step come in the order of the list.
    expect(first?.split('\n').sort()).toEqual(steps[0]?.split('\n').sort())
    expect(second).toContain('ALTER TABLE events ADD COLUMN added')
    expect(more).toEqual([])
  })
})

test('a SQLite store of the first version gets the second, keeps its rows, and is then for newer engines alone', async () => {
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
  expect(sqlite.schemaVersion(connection)).toBe(2)
  connection.close()
  await expect(openSqliteStore({ file })).rejects.toThrow(
    'schema version 2, this engine knows up to 1: use a newer engine',
  )
})

test('a PostgreSQL store of the first version gets the second while its engine works on', async () => {
  const url = await freshSchema()
  const before = await openPostgresStore({ url })
  onCleanup(() => before.close())
  const event = anEvent()
  await write(before, { type: 'event.recorded', event })
  const client = await openSession(url, () => {})
  onCleanup(() => client.end())
  await postgres.migrate(client, nextSteps(postgres.POSTGRES_DDL))
  await client.query(`UPDATE events SET added = 'x'; INSERT INTO notes VALUES ('a')`)
  const { rows } = await client.query('SELECT version::int, needs::int FROM migrations ORDER BY version')
  expect(rows).toEqual([1, 2].map(version => ({ version, needs: postgres.NEEDS_VERSION })))
  const later = anEvent()
  await write(before, { type: 'event.recorded', event: later })
  for (const each of [event, later]) expect(await before.in(NS).event(each.id)).toEqual(each)
  // An engine of the first version may also start on it, for it only adds.
  await (await openPostgresStore({ url })).close()
})
