// The signature header of engine-to-runner requests: HMAC-SHA256 over time and raw body
// (`docs/wire-protocol.md#check-the-signature`). The engine signs, the SDK verifies.

import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** Maximum age of a signature, past or future: a captured invoke cannot be replayed later. */
export const SIGNATURE_WINDOW_MS = 300_000

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

/** Whether one of `keys` signed `body` within {@link SIGNATURE_WINDOW_MS} of `nowMs`. Compares in constant time. */
export function verifyBody(options: {
  keys: readonly string[]
  body: string | Uint8Array
  nowMs: number
  header: string | undefined
}): boolean {
  const parts = (options.header ?? '').split(',').map(part => part.trim())
  const t = Number(parts.find(part => part.startsWith('t='))?.slice(2))
  if (!Number.isSafeInteger(t) || Math.abs(options.nowMs - t * 1000) > SIGNATURE_WINDOW_MS) return false
  const given = parts.filter(part => part.startsWith('v1=')).map(part => part.slice(3))
  let matches = false
  for (const key of options.keys) {
    const expected = Buffer.from(mac(key, t, options.body))
    for (const candidate of given) {
      const actual = Buffer.from(candidate)
      if (actual.length === expected.length && timingSafeEqual(actual, expected)) matches = true
    }
  }
  return matches
}

/** Fingerprint of a signing key: the first 16 hex digits of its SHA-256. Safe to show. */
export function keyFingerprint(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('hex').slice(0, 16)
}

function mac(key: string, t: number, body: string | Uint8Array): string {
  return createHmac('sha256', key).update(`${t}.`).update(body).digest('hex')
}
