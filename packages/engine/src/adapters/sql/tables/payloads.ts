// Long payloads that never change live in `payloads`, under the id of the row they belong to: the row itself is
// written anew, overflow pages and all, whenever it moves.

import type { JsonText } from '../../../domain/text/json-text.ts'
import type { Op } from './operations.ts'

/** Longest payload that stays in its row. */
export const INLINE_CHARS_MAX = 2000

/** The payload's value in its row. */
export function inlinePayload(text: JsonText | undefined): string | null {
  return text === undefined || text.length > INLINE_CHARS_MAX ? null : text
}

/** The operation that stores the payload of row `id` beside it, when it is too long to be inline. */
export function payloadOps(id: string, text: JsonText | undefined): Op[] {
  return text !== undefined && text.length > INLINE_CHARS_MAX ? [['payload.insert', id, text]] : []
}

/** A select list of `columns` of `table` in which the payload `column` is read from wherever it is. */
export function selectWithPayload(table: string, columns: readonly string[], column: string): string {
  return columns
    .map(name =>
      name === column
        ? `coalesce(${table}.${name}, (SELECT body FROM payloads WHERE payloads.id = ${table}.id))`
        : `${table}.${name}`,
    )
    .join(', ')
}
