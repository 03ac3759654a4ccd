// Removes secrets from log fields before they are stored (docs/concepts.md#redaction). Every log line of every pass
// passes through here; a replaced value never reaches the disk.

import { endOfString, endOfValue, JSON_DEPTH_MAX, type JsonText, QUOTE, skipSpace, unquoted } from './json-text.ts'

/** Replaces a value whose key names a secret. */
export const REDACTED = '[REDACTED]'

const SECRET_WORDS = new Set([
  'password',
  'passwd',
  'pwd',
  'passphrase',
  'secret',
  'token',
  'authorization',
  'cookie',
  'credential',
  'credentials',
  'cvv',
  'cvc',
  'ssn',
])

/** Two words that name a secret only side by side. */
const SECRET_PAIRS = new Set(['api key', 'access key', 'private key', 'signing key', 'card number'])

/** A sequence of capitals (`HTTP` of `HTTPToken`) or a word; digits and everything else separate. */
const WORD = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+/gu

const COLON = 58

/**
 * `fields` with {@link REDACTED} for the value of every key that names a secret, at any depth, and everything else
 * unchanged. Values nested deeper than `JSON_DEPTH_MAX` are redacted whole: losing them is better than leaking them.
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
      // A string without a colon behind it is a value.
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

/** Whether a value under this key must not be stored. */
export function isSecretKey(key: string): boolean {
  if (key.toLowerCase().includes('apikey')) return true
  let before = ''
  for (const match of key.matchAll(WORD)) {
    const word = match[0].toLowerCase()
    if (SECRET_WORDS.has(word) || SECRET_PAIRS.has(`${before} ${word}`)) return true
    before = word
  }
  return false
}
