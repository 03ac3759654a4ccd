// The columns of attributes, among the columns of the URL: `@customer`. Pure.

import { decode } from '../../router/routes.ts'

/** Columns of attributes at most. */
export const ATTRIBUTE_COLUMNS_MAX = 4

/** The name of the column of an attribute: a list in the URL is divided by commas. */
export const columnOf = (key: string): string => `@${encodeURIComponent(key)}`

/** The keys of the attributes among the columns. */
export const attributeKeys = (columns: readonly string[]): string[] =>
  columns.flatMap(name => (name.startsWith('@') ? decode(name.slice(1)) : [])).slice(0, ATTRIBUTE_COLUMNS_MAX)
