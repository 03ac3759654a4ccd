// Verifies the signature of an inbound webhook (docs/webhooks.md#schemes). schemes.ts defines what each scheme signs; the check
// is the same for all. Called by services/webhook/inbound.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { SIGNATURE_WINDOW_MS } from '@perdure/protocol'
import type { ReceiverScheme } from '../model/receiver.ts'
import type { SignatureFault } from './refusal.ts'
import { type Claim, SCHEMES, schemeOf, type WebhookPost } from './schemes.ts'

/** `messageId`: the provider's id of the message, which is the same in a repeat. */
export type SignatureCheck = { ok: true; messageId?: string } | { ok: false; fault: SignatureFault }

/** Checks that one of the signatures was made with one of the secrets, and recently if the scheme has a timestamp. */
export function verifySignature(
  scheme: ReceiverScheme,
  secrets: readonly string[],
  post: WebhookPost & { now: number },
): SignatureCheck {
  const { claimOf, keyOf } = SCHEMES[scheme]
  const claim = claimOf(post)
  if (!claim) return { ok: false, fault: withoutClaim(post) }
  const offMs = offBy(claim, post.now)
  if (offMs === undefined) return { ok: false, fault: { reason: 'unsigned' } }
  // Checked before the time: a wrong time is only worth reporting for a post that the provider signed.
  if (!secrets.some(secret => isSigned(claim, keyOf(secret))))
    return { ok: false, fault: { reason: 'wrong_signature' } }
  if (Math.abs(offMs) > SIGNATURE_WINDOW_MS) {
    return { ok: false, fault: { reason: 'stale', offSeconds: Math.round(offMs / 1000) } }
  }
  const messageId = claim.messageId()
  return messageId === undefined || messageId === '' ? { ok: true } : { ok: true, messageId }
}

/** The fault of a post without the parts that the scheme needs. */
function withoutClaim(post: WebhookPost): SignatureFault {
  const signedAs = schemeOf(post)
  return signedAs === undefined ? { reason: 'unsigned' } : { reason: 'other_scheme', signedAs }
}

/** How far the signed time is off; 0 for a scheme without a time, undefined for an invalid one. */
function offBy({ timestamp }: Claim, now: number): number | undefined {
  if (timestamp === undefined) return 0
  return /^\d{1,12}$/.test(timestamp) ? now - Number(timestamp) * 1000 : undefined
}

function isSigned({ signed, encoding, signatures }: Claim, key: Buffer): boolean {
  const hmac = createHmac('sha256', key)
  for (const part of signed) {
    // Node decodes headers as Latin-1: encoding them the same way gives the bytes that were sent.
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
