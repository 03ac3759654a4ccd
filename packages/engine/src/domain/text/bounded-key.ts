// Keys that a database indexes, whatever people write into them. An index entry of PostgreSQL has 2,704 bytes at most, for
// all its columns; names are bounded by the interface, what is not goes through here.

import { createHash } from 'node:crypto'

/**
 * A longer key stands as its digest. In an index a character takes at most six bytes: four as UTF-8, six where the text is
 * stored as JSON.
 */
export const KEY_CHARS_MAX = 256

/** The key itself, or its digest. Equal keys have equal forms, and different keys different ones. */
export function boundedKey(key: string): string {
  if (key.length <= KEY_CHARS_MAX) return key
  // As UTF-8 all lone surrogates would be the same.
  const encoding = isWellFormed(key) ? 'utf8' : 'utf16le'
  return `sha256:${createHash('sha256').update(key, encoding).digest('base64url')}`
}

/** Node 20 has it, the ES2023 library types do not. */
function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed()
}
