// The columns and keys by which a move copies each table, from the tables' descriptions: new tables and columns are copied
// without further code.

import type { ColumnType } from '../description/column.ts'
import type { TableSchema } from '../description/table.ts'
import { TABLES } from '../tables/tables.ts'

export interface CopiedTable {
  name: string
  columns: readonly { name: string; type: ColumnType }[]
  /** Columns that identify a row, in the order of the copy. */
  key: readonly string[]
  /** The column that numbers the rows. */
  position?: string | undefined
  /** The schema creates the table's only row, which the copy replaces. */
  hasOneRow: boolean
}

export const COPIED_TABLES: readonly CopiedTable[] = TABLES.map(copiedTable)

function copiedTable({ name, schema, key, position, only }: TableSchema): CopiedTable {
  const own = schema.map(({ name, column }) => ({ name, type: column.type }))
  const hasOneRow = only !== undefined
  const number = hasOneRow ? 'id' : position
  const columns = number === undefined ? own : [{ name: number, type: 'integer' as const }, ...own]
  return { name, columns, key: keyOf({ name, schema, key }, number), position, hasOneRow }
}

function keyOf({ name, schema, key }: Pick<TableSchema, 'name' | 'schema' | 'key'>, number: string | undefined) {
  if (number !== undefined) return [number]
  if (key) return key
  const unique = schema.find(({ column }) => column.isUnique)
  if (!unique) throw new Error(`no column identifies the rows of ${name}`)
  return [unique.name]
}
