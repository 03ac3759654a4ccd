// Turns the columns of a table into the functions that write objects into rows and read them back. The functions are generated as
// source text once, field by field, like code written by hand: a loop over the columns would cost 0.3 µs more on every step of
// every pass.

import type { Column } from './column.ts'
import type { Row, Value } from './values.ts'

/** Longest payload that stays in its row. */
export const INLINE_CHARS_MAX = 2000

/** A column by its name, and the field, or the part of a field, that it stores. */
export interface NamedColumn {
  name: string
  field: string
  part?: string
  column: Column
}

export interface RowFunctions<Object> {
  /** Appends the values of a whole row. */
  append(to: Value[], object: Object): void
  /** Appends the values of the columns that a move writes. */
  appendMoving(to: Value[], object: Object): void
  /** Reads a row that has the table's columns in their order; ignores any values after them. */
  fromRow(row: Row): Object
}

/** The columns of fields, in their order. */
export function namedColumns(fields: Readonly<Record<string, Column>>): NamedColumn[] {
  return Object.entries(fields).flatMap(([field, column]) =>
    column.parts
      ? Object.entries(column.parts).map(([part, of]) => ({
          name: of.name ?? snakeCase(`${field}_${part}`),
          field,
          part,
          column: of,
        }))
      : [{ name: column.name ?? snakeCase(field), field, column }],
  )
}

/** The columns that the functions of the row write and read. */
export function mapped(columns: readonly NamedColumn[]): NamedColumn[] {
  return columns.filter(({ column }) => !column.isUnmapped)
}

/** Makes the functions of a table's rows. `moving` are the last of `all`. */
export function rowFunctions<Object>(
  all: readonly NamedColumn[],
  moving: readonly NamedColumn[],
): RowFunctions<Object> {
  return {
    append: appending(all),
    appendMoving: appending(moving),
    fromRow: compiled('row', `return { ${reads(all).join(', ')} }`, []),
  }
}

function appending<Object>(columns: readonly NamedColumn[]): RowFunctions<Object>['append'] {
  const computed = columns.map(({ column }) => column.from)
  const values = columns.map((named, i) => written(named, `computed[${i}](object)`))
  return compiled('to, object', `to.push(${values.join(', ')})`, computed)
}

/** Compiles a function with these parameters; its body sees the values of computed columns, by the column's index. */
function compiled<F>(parameters: string, body: string, computed: readonly unknown[]): F {
  const source = `return function (${parameters}) { ${body} }`
  return new Function('computed', 'inline', source)(computed, inline) as F
}

function inline(text: string | undefined): string | null {
  return text === undefined || text.length > INLINE_CHARS_MAX ? null : text
}

function written({ field, part, column }: NamedColumn, computed: string): string {
  const value = column.from ? computed : `object.${field}${part === undefined ? '' : `.${part}`}`
  if (column.isPayload) return `inline(${value})`
  switch (column.codec) {
    case 'plain':
      return column.isNullable ? `${value} ?? null` : value
    case 'json':
      return column.isNullable ? `${value} === undefined ? null : JSON.stringify(${value})` : `JSON.stringify(${value})`
    case 'boolean':
      return `${value} ? 1 : 0`
    case 'flag':
      return `${value} ? 1 : null`
  }
}

/** The members of an object literal: one for each field, whose parts come one after the other. */
function reads(columns: readonly NamedColumn[]): string[] {
  const members = new Map<string, string[]>()
  for (const [i, { field, part, column }] of columns.entries()) {
    if (column.from) continue
    const value = read(column, `row[${i}]`)
    if (part === undefined) members.set(field, [value])
    else members.set(field, [...(members.get(field) ?? []), `${part}: ${value}`])
  }
  return [...members].map(([field, values]) => {
    const isWhole = columns.some(column => column.field === field && column.part === undefined)
    return `${field}: ${isWhole ? values[0] : `{ ${values.join(', ')} }`}`
  })
}

function read({ codec, isNullable }: Column, value: string): string {
  switch (codec) {
    case 'plain':
      return isNullable ? `${value} ?? undefined` : value
    case 'json':
      return isNullable ? `${value} === null ? undefined : JSON.parse(${value})` : `JSON.parse(${value})`
    case 'boolean':
      return `${value} === 1`
    case 'flag':
      return `${value} === null ? undefined : true`
  }
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}
