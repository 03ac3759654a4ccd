// Opaque cursors of the lists with pages (docs/concepts.md#lists-and-cursors): the sort position of a page's last row,
// bound to the list, namespace and filter. A cursor of another list, namespace or filter is refused.

import { createHash } from 'node:crypto'
import { CURSOR_PARAM } from '@perdure/protocol/operations'
import { EngineError } from '../../domain/model/errors.ts'

/** The list that a cursor belongs to. The page size is not part of it: it may change from page to page. */
export interface CursorScope {
  kind:
    | 'runs'
    | 'events'
    | 'eventNames'
    | 'deliveries'
    | 'keys'
    | 'actions'
    | 'scheduled'
    | 'schedules'
    | 'buffers'
    | 'steps'
    | 'passes'
    | 'bulks'
    | 'bulkResults'
    | 'definitions'
  namespace: string
  filter: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>
}

/** The cursor that leads to the rows after `position`. */
export function encodeCursor(scope: CursorScope, position: readonly (string | number)[]): string {
  const { kind, namespace } = scope
  const parts = { kind, namespace, filter: fingerprint(scope.filter), position }
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

/**
 * Returns the position in `cursor`; undefined without one. `read` checks the position, and returns undefined if no row can have
 * it.
 */
export function decodeCursor<Position>(
  cursor: string | undefined,
  scope: CursorScope,
  read: (position: unknown[]) => Position | undefined,
): Position | undefined {
  if (cursor === undefined) return undefined
  const parts = parse(cursor)
  const isInScope =
    parts?.kind === scope.kind &&
    parts.namespace === scope.namespace &&
    parts.filter === fingerprint(scope.filter) &&
    Array.isArray(parts.position)
  const position = isInScope ? read(parts.position as unknown[]) : undefined
  if (position === undefined) {
    throw new EngineError('invalid_cursor', 'cursor is malformed, or was issued for another list or filter', {
      details: { field: 'cursor' },
    })
  }
  return position
}

/** Reads the position of a list whose rows follow each other by an id or a name. */
export function readId([id, ...rest]: unknown[]): string | undefined {
  return typeof id === 'string' && rest.length === 0 ? id : undefined
}

/** Reads the position of a list whose rows follow each other by a number. */
export function readNumber([value, ...rest]: unknown[]): number | undefined {
  return isNumber(value) && rest.length === 0 ? value : undefined
}

/** Reads the position of a list whose rows follow each other by a time, and by id at the same time. */
export function readTimeAndId<Time extends string>(time: Time) {
  return ([at, id, ...rest]: unknown[]): (Record<Time, number> & { id: string }) | undefined =>
    isNumber(at) && typeof id === 'string' && rest.length === 0
      ? ({ [time]: at, id } as Record<Time, number> & { id: string })
      : undefined
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function parse(cursor: string): Record<string, unknown> | undefined {
  if (cursor.length > CURSOR_PARAM.maxLength) return undefined
  const bytes = Buffer.from(cursor, 'base64url')
  // Decoding skips characters that are not base64, so a cursor must encode to itself.
  if (bytes.toString('base64url') !== cursor) return undefined
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function fingerprint(filter: CursorScope['filter']): string {
  const set = Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  return createHash('sha256').update(JSON.stringify(set.sort())).digest('base64url').slice(0, 12)
}
