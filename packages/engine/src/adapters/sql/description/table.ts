// The description of a table: its columns, key and indexes, and what statements and rows need from them. Everything is
// computed once, when the module of the table is loaded.

import type { Column, ColumnType } from './column.ts'
import { mapped, type NamedColumn, namedColumns, type RowFunctions, rowFunctions } from './row-functions.ts'
import type { Row } from './values.ts'

export interface Index {
  /** Columns or expressions, as in `CREATE INDEX name ON table (…)`. */
  on: string
  /** The condition of a partial index. */
  where?: string
  /** PostgreSQL's own way to find the same rows, instead of `on`. */
  postgres?: string
  /** The schema version that added the index; absent: the first. */
  since?: number
  /** The schema version that removed the index, because another one took its place. */
  until?: number
}

interface Options {
  /** Columns of the primary key, by which rows are stored; if absent, rows are stored by their own number. */
  key?: readonly string[]
  /** Further sets of columns whose values are unique. */
  unique?: readonly (readonly string[])[]
  /** The column that numbers the rows in the order of their commits. */
  position?: string
  indexes?: Readonly<Record<string, Index>>
  /** The table has one row: the SQL of the row's values, in each dialect. */
  only?: Readonly<Record<'sqlite' | 'postgres', string>>
  /** The schema version that added the table; absent: the first. */
  since?: number
}

/** The part of a description that the schema is made from. */
export interface TableSchema extends Options {
  name: string
  /** Every column, in the order of the schema. */
  schema: readonly NamedColumn[]
}

export interface Table<Object> extends TableSchema, RowFunctions<Object> {
  /** Names of the columns of a row, in its order. */
  columns: readonly string[]
  /** Names of the columns that a move writes: the last ones of a row. */
  moving: readonly string[]
  /** A select list whose rows `fromRow` reads. */
  select: string
  /** The same without payloads that are stored outside their rows, and with NULL for the columns named here. */
  selectWithout(...columns: string[]): string
  /** A select list of some fields only, and what reads its rows. */
  part<Field extends keyof Object & string>(...fields: Field[]): Part<Pick<Object, Field>>
  typeOf(column: string): ColumnType
}

interface Part<Object> {
  select: string
  fromRow(row: Row): Object
}

type Columns<Object> = { readonly [Field in keyof Object]?: Column<Object[Field]> }

/** Nothing, or the fields that no column stores. */
type Complete<Object, Described> = [Exclude<keyof Object, Described>] extends [never]
  ? unknown
  : { fieldsWithoutColumn: Exclude<keyof Object, Described> }

/**
 * Describes the table that stores objects of a type. `fixed` columns are written once, `moving` ones by every move too. A
 * field of the type that has no column does not compile.
 */
export function table<Object>() {
  // biome-ignore lint/complexity/noBannedTypes: no columns.
  return <Fixed extends Columns<Object>, Moving extends Columns<Object> = {}>(
    name: string,
    description: Options & { fixed: Fixed; moving?: Moving } & Complete<Object, keyof Fixed | keyof Moving>,
  ): Table<Object> => {
    const { fixed, moving = {}, ...options } = description
    const movingColumns = namedColumns(moving as Record<string, Column>)
    const schema = [...namedColumns(fixed as Record<string, Column>), ...movingColumns]
    const row = mapped(schema)
    const moves = mapped(movingColumns)
    return {
      ...options,
      ...rowFunctions<Object>(row, moves),
      name,
      schema,
      columns: row.map(column => column.name),
      moving: moves.map(column => column.name),
      select: selectList(name, row),
      selectWithout: (...without) =>
        row.map(column => (without.includes(column.name) ? 'NULL' : `${name}.${column.name}`)).join(', '),
      part: <Field extends string>(...fields: Field[]) => {
        const columns = fields.flatMap(field => row.filter(column => column.field === field))
        return { select: selectList(name, columns), fromRow: rowFunctions<never>(columns, []).fromRow }
      },
      typeOf: column => (schema.find(each => each.name === column) as NamedColumn).column.type,
    }
  }
}

function selectList(table: string, columns: readonly NamedColumn[]): string {
  return columns.map(column => selected(table, column)).join(', ')
}

function selected(table: string, { name, column }: NamedColumn): string {
  const own = `${table}.${name}`
  return column.isPayload ? `coalesce(${own}, (SELECT body FROM payloads WHERE payloads.id = ${table}.id))` : own
}
