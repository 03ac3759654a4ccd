// Whether a webhook comes from whom it says (contract §5.6; decisions "Webhooks"). What of a post is signed, and how,
// differs by scheme (domain/webhook/schemes); the check is one for all of them. Called by services/webhook/receivers.

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ReceiverScheme } from '../model/receiver.ts'
import { type Claim, SCHEMES, type WebhookPost } from './schemes.ts'

/** How far a signed timestamp may lie from now, before or after. */
export const FRESH_MS = 300_000

/** `messageId`: the provider's own id of the message, the same when it sends it again. */
export type SignatureCheck = { ok: true; messageId?: string } | { ok: false }

/** Whether one of the signatures was made with one of the secrets, and lately where the scheme tells when. */
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
  return /^\d{1,12}$/.test(timestamp) && Math.abs(now - Number(timestamp) * 1000) <= FRESH_MS
}

function isSigned({ signed, encoding, signatures }: Claim, key: Buffer): boolean {
  const hmac = createHmac('sha256', key)
  for (const part of signed) {
    // Headers come decoded as Latin-1: so encoded they are again the bytes that were sent.
    hmac.update(typeof part === 'string' ? Buffer.from(part, 'latin1') : part)
  }
  const expected = hmac.digest(encoding)
  return signatures.some(signature => isSame(signature, expected))
}

/**
 * In constant time for texts of one length. Compared as they are written, not decoded: a decoder passes over what it
 * does not know, so that several texts would be the same signature.
 */
function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
