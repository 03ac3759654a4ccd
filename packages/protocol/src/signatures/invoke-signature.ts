// The signature header of engine-to-runner requests: HMAC-SHA256 over time and raw body, and, for runners that negotiated it,
// also over purpose and recipient (`docs/wire-protocol.md#check-the-signature`). The engine signs, the SDK verifies.

import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** Maximum age of a signature, past or future: a captured invoke cannot be replayed later. */
export const SIGNATURE_WINDOW_MS = 300_000

/** Fewest bytes of a key that signs invokes, or seals what is stored: 256 bits. */
export const SECRET_KEY_BYTES_MIN = 32

/** Header value when the engine has no signing key: a marker, which never verifies. */
export const UNSIGNED = 'v0'

/**
 * Header value `t=<unix seconds>,v1=<hex>[,v1=<hex>]` for a body: one `v1` per key (two while a key is being
 * rotated), or {@link UNSIGNED} without keys.
 */
export function signBody(options: { keys: readonly string[]; body: string | Uint8Array; nowMs: number }): string {
  if (options.keys.length === 0) return UNSIGNED
  const t = Math.floor(options.nowMs / 1000)
  return [`t=${t}`, ...options.keys.map(key => `v1=${mac(key, t, options.body)}`)].join(',')
}

/** The purpose of a signature: a signature for one purpose never verifies for another. */
type SignaturePurpose = 'invoke' | 'connect'

/** Whom a signature is for: the digest of an app and a runner id, or of the host that a runner dialled. */
export function recipientOf(...names: string[]): string {
  return createHash('sha256').update(names.join('\n'), 'utf8').digest('hex')
}

interface Addressed {
  keys: readonly string[]
  purpose: SignaturePurpose
  body: string | Uint8Array
  nowMs: number
}

/** Header value `t=<unix seconds>,r=<recipient>,v2=<hex>[,v2=<hex>]`, or {@link UNSIGNED} without keys. */
export function signFor(options: Addressed & { recipient: string }): string {
  const { keys, recipient, nowMs } = options
  if (keys.length === 0) return UNSIGNED
  const t = Math.floor(nowMs / 1000)
  return [`t=${t}`, `r=${recipient}`, ...keys.map(key => `v2=${macFor(key, t, { ...options, recipient })}`)].join(',')
}

/** Whether one of `keys` signed `body` within {@link SIGNATURE_WINDOW_MS} of `nowMs`. Compares in constant time. */
export function verifyBody(options: {
  keys: readonly string[]
  body: string | Uint8Array
  nowMs: number
  header: string | undefined
}): boolean {
  const { t, v1 } = readHeader(options.header)
  return isFresh(t, options.nowMs) && hasMatch(v1, options.keys, key => mac(key, t, options.body))
}

/** Whether the header carries a `v2` signature, valid or not: then its `v1` does not count. */
export function isAddressed(header: string | undefined): boolean {
  return readHeader(header).v2.length > 0
}

/** The time that a signature header states, in epoch ms; undefined without one. */
export function signedAt(header: string | undefined): number | undefined {
  const { t } = readHeader(header)
  return Number.isSafeInteger(t) ? t * 1000 : undefined
}

/** The recipient that one of `keys` signed `body` for, as {@link verifyBody} verifies; undefined without a valid `v2`. */
export function verifyFor(options: Addressed & { header: string | undefined }): string | undefined {
  const { t, r: recipient = '', v2 } = readHeader(options.header)
  // A recipient of any other form could take characters of the body into the name.
  if (!/^[0-9a-f]{64}$/.test(recipient) || !isFresh(t, options.nowMs)) return undefined
  const isSigned = hasMatch(v2, options.keys, key => macFor(key, t, { ...options, recipient }))
  return isSigned ? recipient : undefined
}

/** Fingerprint of a signing key: the first 16 hex digits of its SHA-256. Safe to show. */
export function keyFingerprint(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('hex').slice(0, 16)
}

function readHeader(header = ''): { t: number; r: string | undefined; v1: string[]; v2: string[] } {
  const parts = header.split(',').map(part => part.trim())
  const given = (name: string) =>
    parts.filter(part => part.startsWith(`${name}=`)).map(part => part.slice(name.length + 1))
  return { t: Number(given('t')[0]), r: given('r')[0], v1: given('v1'), v2: given('v2') }
}

function isFresh(t: number, nowMs: number): boolean {
  return Number.isSafeInteger(t) && Math.abs(nowMs - t * 1000) <= SIGNATURE_WINDOW_MS
}

function hasMatch(given: readonly string[], keys: readonly string[], macOf: (key: string) => string): boolean {
  let matches = false
  for (const key of keys) {
    if (given.length === 0) break
    const expected = Buffer.from(macOf(key))
    for (const candidate of given) {
      const actual = Buffer.from(candidate)
      if (actual.length === expected.length && timingSafeEqual(actual, expected)) matches = true
    }
  }
  return matches
}

function mac(key: string, t: number, body: string | Uint8Array): string {
  return createHmac('sha256', key).update(`${t}.`).update(body).digest('hex')
}

/** Begins with a letter, so that no `v1` covers the same text. */
function macFor(
  key: string,
  t: number,
  { purpose, recipient, body }: Pick<Addressed, 'purpose' | 'body'> & { recipient: string },
): string {
  return createHmac('sha256', key).update(`v2.${purpose}.${t}.${recipient}.`).update(body).digest('hex')
}
