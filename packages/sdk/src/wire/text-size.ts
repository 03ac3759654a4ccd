// Measures and bounds the size of texts, in UTF-8 bytes or in characters.

import { Buffer } from 'node:buffer'
import { cutText } from '@perdure/protocol'

/** Number of UTF-8 bytes of a text. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text)
}

/** Whether a text has more than `limit` UTF-8 bytes. Counts the bytes only if the number of characters cannot decide. */
export function exceeds(text: string, limit: number): boolean {
  return text.length > limit || (text.length * 3 > limit && byteLength(text) > limit)
}

/** Cuts a text after `charsMax` characters and marks the cut with `...`. */
export function clip(text: string, charsMax: number): string {
  return cutText(text, charsMax, '...')
}
