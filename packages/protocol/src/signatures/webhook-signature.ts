// Signatures of webhooks in the Standard Webhooks format: HMAC-SHA256 over `id.timestamp.body`
// (`docs/webhooks.md#verify-a-signature`). The engine signs deliveries, and verifies the posts to its receivers; the SDK verifies
// deliveries.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { SIGNATURE_WINDOW_MS } from './invoke-signature.ts'

export const WEBHOOK_SECRET_PREFIX = 'whsec_'

/** `unsigned`: without a signature, like deliveries of `ctx.webhook.send`. `stale`: signed, but not within 300 s of now. */
export type WebhookVerdict = 'verified' | 'unsigned' | 'stale' | 'mismatch'

/** The HMAC key of a secret: the bytes of its base64, which every Standard Webhooks library decodes, else its text. */
export function webhookKeyOf(secret: string): Buffer {
  const prefixed = secret.startsWith(WEBHOOK_SECRET_PREFIX)
  const text = prefixed ? secret.slice(WEBHOOK_SECRET_PREFIX.length) : secret
  return isBase64(text) ? Buffer.from(text, 'base64') : Buffer.from(secret, 'utf8')
}

/** Whether the secret has the prefix of the standard (`whsec_`), but not base64 after it. */
export function isMalformedWebhookSecret(secret: string): boolean {
  return secret.startsWith(WEBHOOK_SECRET_PREFIX) && !isBase64(secret.slice(WEBHOOK_SECRET_PREFIX.length))
}

/** The signature header value, `v1,<base64>`. `timestamp` is in seconds. */
export function signWebhook(
  secret: string,
  message: { id: string; timestamp: string; body: string | Uint8Array },
): string {
  const { id, timestamp, body } = message
  // Node decodes headers as Latin-1: encoding them the same way restores the bytes that were sent.
  const head = Buffer.from(`${id}.${timestamp}.`, 'latin1')
  const digest = createHmac('sha256', webhookKeyOf(secret)).update(head).update(body)
  return `v1,${digest.digest('base64')}`
}

/**
 * Whether `secret` signed the message within the last 300 s. `headers` have lower-case names, as in Node; `body` is the
 * raw body, before anything parses it. Compares in constant time.
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
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') return 'mismatch'
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
