// Makes the numbered steps of a schema from the descriptions of its tables: the first step creates everything of version 1, and
// each later one adds what its version added. Called by the migrations of both dialects.

import type { ColumnType } from './column.ts'
import type { NamedColumn } from './row-functions.ts'
import type { Index, TableSchema } from './table.ts'

export interface DdlDialect {
  name: 'sqlite' | 'postgres'
  types: Readonly<Record<ColumnType, string>>
  /** Type and key of a column that numbers its rows. */
  position: string
  /** Follows the columns of a table that is stored by its key. */
  stored: string
  /** Statements of one dialect only, by their version. */
  own: Readonly<Record<number, string>>
}

/** The SQL of each version, from 1 on. */
export function schemaSteps(dialect: DdlDialect, tables: readonly TableSchema[]): string[] {
  const versions = [
    1,
    ...Object.keys(dialect.own).map(Number),
    ...tables.flatMap(table => [
      versionOf(table),
      ...table.schema.map(({ column }) => versionOf(column)),
      ...Object.values(table.indexes ?? {}).map(index => index.until ?? versionOf(index)),
    ]),
  ]
  return Array.from({ length: Math.max(...versions) }, (_, i) =>
    [...tables.flatMap(table => additions(dialect, table, i + 1)), dialect.own[i + 1] ?? '']
      .filter(sql => sql !== '')
      .join('\n'),
  )
}

function additions(dialect: DdlDialect, table: TableSchema, version: number): string[] {
  const isNew = versionOf(table) === version
  const columns = table.schema.filter(({ column }) => column.since === version)
  const indexes = Object.entries(table.indexes ?? {}).filter(
    ([, index]) => Math.max(versionOf(index), versionOf(table)) === version,
  )
  return [
    ...(isNew ? createTable(dialect, table) : columns.map(column => addColumn(dialect, table, column))),
    ...indexes.map(([name, index]) => createIndex(dialect, table, name, index)),
    ...Object.entries(table.indexes ?? {}).flatMap(([name, index]) =>
      index.until === version ? [`DROP INDEX ${name};`] : [],
    ),
  ]
}

function createTable(dialect: DdlDialect, table: TableSchema): string[] {
  const { name, key, unique = [], position, only } = table
  const columns = table.schema.filter(({ column }) => versionOf(column) <= versionOf(table))
  const lines = [
    ...(position === undefined ? [] : [`${position} ${dialect.position}`]),
    ...(only ? [`id ${dialect.types.integer} PRIMARY KEY CHECK (id = 1)`] : []),
    ...columns.map(column => columnSql(dialect, column)),
    ...(key ? [`PRIMARY KEY (${key.join(', ')})`] : []),
    ...unique.map(set => `UNIQUE (${set.join(', ')})`),
  ]
  const create = `CREATE TABLE ${name} (\n  ${lines.join(',\n  ')}\n)${key ? dialect.stored : ''};`
  return only ? [create, `INSERT INTO ${name} VALUES (1, ${only[dialect.name]});`] : [create]
}

function addColumn(dialect: DdlDialect, { name }: TableSchema, column: NamedColumn): string {
  return `ALTER TABLE ${name} ADD COLUMN ${columnSql(dialect, column)};`
}

function columnSql({ types }: DdlDialect, { name, column }: NamedColumn): string {
  return `${name} ${types[column.type]}${column.isNullable ? '' : ' NOT NULL'}${column.isUnique ? ' UNIQUE' : ''}`
}

function createIndex(dialect: DdlDialect, table: TableSchema, name: string, index: Index): string {
  const on = dialect.name === 'postgres' && index.postgres ? index.postgres : `(${index.on})`
  return `CREATE INDEX ${name} ON ${table.name} ${on}${index.where ? ` WHERE ${index.where}` : ''};`
}

function versionOf({ since = 1 }: { since?: number }): number {
  return since
}
