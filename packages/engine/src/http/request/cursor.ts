// Opaque cursors of the keyset lists (contract §4.1, "Pagination rules"): the last row's sort position, bound to
// the list, namespace and filter it was issued for. A cursor from anywhere else is refused, never followed.

import { createHash } from 'node:crypto'
import { EngineError } from '../../domain/model/errors.ts'

/** What a cursor is good for. The page size is not part of it: it may change from page to page. */
export interface CursorScope {
  kind: 'runs' | 'events' | 'deliveries'
  namespace: string
  filter: Record<string, string | undefined>
}

/** The longest has a workflow name of 256 characters in it. */
const CURSOR_CHARS_MAX = 4096

/** The cursor that leads to the rows after `position`. */
export function encodeCursor(scope: CursorScope, position: readonly (string | number)[]): string {
  const { kind, namespace } = scope
  const parts = { kind, namespace, filter: fingerprint(scope.filter), position }
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

/** The position in `cursor`, through `read`, which answers undefined for one that no row can have. */
export function decodeCursor<Position>(
  cursor: string,
  scope: CursorScope,
  read: (position: unknown[]) => Position | undefined,
): Position {
  const parts = parse(cursor)
  const mine =
    parts?.kind === scope.kind &&
    parts.namespace === scope.namespace &&
    parts.filter === fingerprint(scope.filter) &&
    Array.isArray(parts.position)
  const position = mine ? read(parts.position as unknown[]) : undefined
  if (position === undefined) {
    throw new EngineError('invalid_cursor', 'cursor is malformed, or was issued for another list or filter', {
      details: { field: 'cursor' },
    })
  }
  return position
}

/** Whether `value` can be a sort position that is a number. */
export function isPosition(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function parse(cursor: string): Record<string, unknown> | undefined {
  if (cursor.length > CURSOR_CHARS_MAX) return undefined
  const bytes = Buffer.from(cursor, 'base64url')
  // Decoding skips what is no base64; what does not encode back was never issued.
  if (bytes.toString('base64url') !== cursor) return undefined
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function fingerprint(filter: CursorScope['filter']): string {
  const set = Object.entries(filter).filter(([, value]) => value !== undefined)
  return createHash('sha256').update(JSON.stringify(set.sort())).digest('base64url').slice(0, 12)
}
