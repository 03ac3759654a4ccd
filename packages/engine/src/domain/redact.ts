// Takes secrets out of log fields before they are stored (decisions, "Redaction in log fields"). Every log line
// of every pass goes through here; what is replaced never reaches the disk.

import { JSON_DEPTH_MAX } from './json-text.ts'

/** What stands in place of a value whose key names a secret. */
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

/** A run of capitals (`HTTP` of `HTTPToken`) or a word; digits and everything else separate. */
const WORD = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+/gu

/**
 * A copy of `fields` in which the value of every key that names a secret is {@link REDACTED}, at any depth. What
 * lies deeper than JSON may be nested here is redacted whole: it is cheaper to lose it than to leak it.
 */
export function redactFields(fields: Record<string, unknown>): Record<string, unknown> {
  return redactObject(fields, 1)
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

function redactValue(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth > JSON_DEPTH_MAX) return REDACTED
  if (Array.isArray(value)) return value.map(element => redactValue(element, depth + 1))
  return redactObject(value, depth)
}

/** `fromEntries` defines its properties, so that a key `__proto__` stays a key and changes no prototype. */
function redactObject(object: object, depth: number): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [
      key,
      isSecretKey(key) ? REDACTED : redactValue(value, depth + 1),
    ]),
  )
}
