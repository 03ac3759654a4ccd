// Decides which keys name a secret (docs/concepts.md#redaction). The engine uses it to redact log fields, and both sides to
// redact the fields of errors.

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

/** Two words that name a secret only next to each other. */
const SECRET_PAIRS = new Set(['api key', 'access key', 'private key', 'signing key', 'card number'])

/** A sequence of capitals (`HTTP` of `HTTPToken`) or a word; digits and everything else separate. */
const WORD = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+/gu

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
