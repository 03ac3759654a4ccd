// The columns that table descriptions are made of. A column belongs to a field of the domain type, whose type it must
// accept; its name is the field's in snake case.

import type { EventMatch } from '@perdure/protocol'

export type ColumnType = 'text' | 'integer' | 'real'

/** How a field's value is stored: as it is, as JSON text, as 1 or 0, or as 1 or NULL. */
type Codec = 'plain' | 'json' | 'boolean' | 'flag'

/** A column that stores values of type `Field`. */
export interface Column<Field = never> {
  readonly type: ColumnType
  readonly codec: Codec
  readonly isNullable: boolean
  readonly isUnique?: boolean
  /** The column's name, if it differs from the field's. */
  readonly name?: string
  /** Stores long values in `payloads`, under the id of their row. */
  readonly isPayload?: true
  /** Computes the value from the whole object; such a column is not read back. */
  readonly from?: (object: never) => unknown
  /** No function of the row writes or reads the column. */
  readonly isUnmapped?: true
  /** A field that is an object with a column for each of its parts. */
  readonly parts?: Readonly<Record<string, Column>>
  /** The schema version that added the column; absent: the first. */
  readonly since?: number
  /** Never present: holds `Field` for the type checker. */
  readonly accepts?: (field: Field) => void
}

const required = { isNullable: false } as const

export const text: Column<string> = { type: 'text', codec: 'plain', ...required }
export const integer: Column<number> = { type: 'integer', codec: 'plain', ...required }
export const real: Column<number> = { type: 'real', codec: 'plain', ...required }
export const json: Column<object> = { type: 'text', codec: 'json', ...required }
/** A match of a wait, which may be a single path. */
export const matchJson: Column<EventMatch> = { type: 'text', codec: 'json', ...required }
export const boolean: Column<boolean> = { type: 'integer', codec: 'boolean', ...required }
/** True or absent. */
export const flag: Column<boolean | undefined> = { type: 'integer', codec: 'flag', isNullable: true }
/** Text of any length that never changes, or absent. */
export const payload: Column<string | undefined> = {
  type: 'text',
  codec: 'plain',
  isNullable: true,
  isPayload: true,
}

export function optional<Field>(column: Column<Field>): Column<Field | undefined> {
  return { ...column, isNullable: true, accepts: undefined } as Column<Field | undefined>
}

export function unique<Field>(column: Column<Field>): Column<Field> {
  return { ...column, isUnique: true }
}

export function named<Field>(name: string, column: Column<Field>): Column<Field> {
  return { ...column, name }
}

/** A column that an index needs in addition to the fields from which it is computed. */
export function derived<Object, Field>(column: Column<Field>, from: (object: Object) => Field): Column {
  return { ...column, from, accepts: undefined } as Column
}

/** A column that only dedicated statements write. */
export function unmapped(column: Column): Column {
  return { ...column, isUnmapped: true }
}

/** Columns for the parts of a field that is an object. */
export function parts<Field extends object>(
  columns: {
    readonly [Part in keyof Field]-?: Column<Field[Part]>
  },
): Column<Field> {
  return { type: 'text', codec: 'plain', ...required, parts: columns as Record<string, Column> }
}

/** A column that the numbered schema version added. It must be optional: rows of older versions do not have it. */
export function since<Field>(version: number, column: Column<Field | undefined>): Column<Field | undefined> {
  return { ...column, since: version }
}
