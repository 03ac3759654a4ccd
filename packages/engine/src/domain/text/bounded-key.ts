// Bounds keys that a database indexes and that users may make arbitrarily long. An index entry of PostgreSQL has at most 2,704
// bytes for all its columns. The interface bounds names; every other indexed text passes through here.

import { createHash } from 'node:crypto'
import { KEY_CHARS_MAX } from '@perdure/protocol'

/**
 * Returns the key itself, or its digest if it is longer than an index has room for: a character takes at most six bytes there,
 * four as UTF-8 and six where the text is stored as JSON. Equal keys have equal forms, and different keys different ones.
 */
export function boundedKey(key: string): string {
  if (key.length <= KEY_CHARS_MAX) return key
  // UTF-8 would encode all lone surrogates the same way.
  const encoding = isWellFormed(key) ? 'utf8' : 'utf16le'
  return `sha256:${createHash('sha256').update(key, encoding).digest('base64url')}`
}

/** Node 20 has `isWellFormed`, but the ES2023 library types do not. */
function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed()
}
