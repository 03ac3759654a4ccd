// Verifies the signature of an inbound webhook (docs/webhooks.md#schemes). schemes.ts says what each scheme signs; the check
// is the same for all. Called by services/webhook/inbound.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { SIGNATURE_WINDOW_MS } from '@perdure/protocol'
import type { ReceiverScheme } from '../model/receiver.ts'
import { type Claim, SCHEMES, type WebhookPost } from './schemes.ts'

/** `messageId`: the provider's id of the message, which a repeat has too. */
export type SignatureCheck = { ok: true; messageId?: string } | { ok: false }

/** Checks that one of the signatures was made with one of the secrets, and recently if the scheme has a timestamp. */
export function verifySignature(
  scheme: ReceiverScheme,
  secrets: readonly string[],
  post: WebhookPost & { now: number },
): SignatureCheck {
  const { claimOf, keyOf } = SCHEMES[scheme]
  const claim = claimOf(post)
  if (!claim || !isFresh(claim, post.now) || !secrets.some(secret => isSigned(claim, keyOf(secret))))
    return { ok: false }
  const messageId = claim.messageId()
  return messageId === undefined || messageId === '' ? { ok: true } : { ok: true, messageId }
}

function isFresh({ timestamp }: Claim, now: number): boolean {
  if (timestamp === undefined) return true
  return /^\d{1,12}$/.test(timestamp) && Math.abs(now - Number(timestamp) * 1000) <= SIGNATURE_WINDOW_MS
}

function isSigned({ signed, encoding, signatures }: Claim, key: Buffer): boolean {
  const hmac = createHmac('sha256', key)
  for (const part of signed) {
    // Node decodes headers as Latin-1: encoded the same way, they are the bytes that were sent.
    hmac.update(typeof part === 'string' ? Buffer.from(part, 'latin1') : part)
  }
  const expected = hmac.digest(encoding)
  return signatures.some(signature => isSame(signature, expected))
}

/**
 * Compares in constant time for texts of one length. The encoded texts are compared: a decoder ignores unknown characters,
 * so several texts would decode to one signature.
 */
function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
