// Signatures of webhooks in the Standard Webhooks format: HMAC-SHA256 over `id.timestamp.body` (decisions, "Webhooks").
// The engine signs, whoever is told verifies; both sides share this file so that they cannot drift apart.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { SIGNATURE_WINDOW_MS } from './signature.ts'

export const WEBHOOK_SECRET_PREFIX = 'whsec_'

/** `unsigned`: no signature at all, as custom sends have none. `stale`: signed, but not within 300 s of now. */
export type WebhookVerdict = 'verified' | 'unsigned' | 'stale' | 'mismatch'

/** The key a secret stands for: the bytes its base64 says, as every Standard Webhooks library reads it, else its text. */
export function webhookKeyOf(secret: string): Buffer {
  const prefixed = secret.startsWith(WEBHOOK_SECRET_PREFIX)
  const text = prefixed ? secret.slice(WEBHOOK_SECRET_PREFIX.length) : secret
  return isBase64(text) ? Buffer.from(text, 'base64') : Buffer.from(secret, 'utf8')
}

/** Whether the secret claims the standard's form (`whsec_`), and yet is not in it. */
export function isMalformedWebhookSecret(secret: string): boolean {
  return secret.startsWith(WEBHOOK_SECRET_PREFIX) && !isBase64(secret.slice(WEBHOOK_SECRET_PREFIX.length))
}

/** `v1,<base64>`. `timestamp` is in seconds. */
export function signWebhook(
  secret: string,
  message: { id: string; timestamp: string; body: string | Uint8Array },
): string {
  const { id, timestamp, body } = message
  // Headers come decoded as Latin-1: so encoded they are again the bytes that were sent.
  const head = Buffer.from(`${id}.${timestamp}.`, 'latin1')
  const digest = createHmac('sha256', webhookKeyOf(secret)).update(head).update(body)
  return `v1,${digest.digest('base64')}`
}

/**
 * Whether `secret` signed the message, and lately. `headers` are by lower-case name, as node gives them; `body` is the
 * raw one, before anything parses it. Constant time in the compared digests.
 */
export function verifyWebhook(options: {
  secret: string
  headers: Readonly<Record<string, string | string[] | undefined>>
  body: string | Uint8Array
  nowMs: number
}): WebhookVerdict {
  const { secret, headers, body, nowMs } = options
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
    name => headers[name],
  )
  if (signatures === undefined) return 'unsigned'
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string')
    return 'mismatch'
  const expected = Buffer.from(signWebhook(secret, { id, timestamp, body }))
  const isSigned = signatures.split(' ').some(text => isSame(Buffer.from(text), expected))
  if (!isSigned) return 'mismatch'
  return isFresh(timestamp, nowMs) ? 'verified' : 'stale'
}

function isSame(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected)
}

function isFresh(timestamp: string, nowMs: number): boolean {
  return /^\d{1,12}$/.test(timestamp) && Math.abs(nowMs - Number(timestamp) * 1000) <= SIGNATURE_WINDOW_MS
}

function isBase64(text: string): boolean {
  return text.length > 0 && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text)
}
