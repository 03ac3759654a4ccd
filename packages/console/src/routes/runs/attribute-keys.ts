// The attribute columns among the columns of the URL: `@customer`. Pure.

import { decode } from '../../router/routes.ts'

/** Maximum number of attribute columns. */
export const ATTRIBUTE_COLUMNS_MAX = 4

/** Returns the name of an attribute's column, encoded because commas separate a list in the URL. */
export const columnOf = (key: string): string => `@${encodeURIComponent(key)}`

/** Returns the keys of the attributes among the columns. */
export const attributeKeys = (columns: readonly string[]): string[] =>
  columns.flatMap(name => (name.startsWith('@') ? decode(name.slice(1)) : [])).slice(0, ATTRIBUTE_COLUMNS_MAX)
