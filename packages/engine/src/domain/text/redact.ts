// Removes secrets from log fields before they are stored (docs/concepts.md#redaction). Every log line of every pass
// passes through here; a replaced value never reaches the disk.

import { isSecretKey, REDACTED } from '@perdure/protocol'
import { endOfString, endOfValue, JSON_DEPTH_MAX, type JsonText, QUOTE, skipSpace, unquoted } from './json-text.ts'

const COLON = 58

/**
 * `fields` with {@link REDACTED} for the value of every key that names a secret, at any depth, and everything else unchanged.
 * Values nested deeper than `JSON_DEPTH_MAX` are redacted as a whole: losing them is better than leaking them.
 */
export function redactFields(fields: JsonText): JsonText {
  let redacted = ''
  let copied = 0
  let depth = 0
  const redactValue = (from: number): number => {
    redacted += `${fields.slice(copied, from)}"${REDACTED}"`
    copied = endOfValue(fields, from)
    return copied
  }
  for (let i = 0; i < fields.length; ) {
    const c = fields.charCodeAt(i)
    if (c === QUOTE) {
      const end = endOfString(fields, i)
      const colon = skipSpace(fields, end)
      // A string that is not followed by a colon is a value.
      const isSecret = fields.charCodeAt(colon) === COLON && isSecretKey(unquoted(fields.slice(i, end)))
      i = isSecret ? redactValue(skipSpace(fields, colon + 1)) : end
    } else if (c === 123 || c === 91) {
      if (depth === JSON_DEPTH_MAX) i = redactValue(i)
      else {
        depth++
        i++
      }
    } else {
      if (c === 125 || c === 93) depth--
      i++
    }
  }
  return copied === 0 ? fields : redacted + fields.slice(copied)
}
