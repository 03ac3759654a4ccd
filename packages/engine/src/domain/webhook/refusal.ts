// A post that a receiver refused (docs/webhooks.md#refused-posts). Pure data: services/webhook/refusals keeps the last ones.

import type { WebhookRefusal } from '@perdure/protocol'

/** Contains nothing of the body, and no value of a header: both come from an unverified sender. */
export interface Refusal extends Omit<WebhookRefusal, 'at'> {
  at: number
}

/** The part of a refusal that its cause decides. */
export type RefusalCause = Pick<Refusal, 'reason' | 'offSeconds' | 'signedAs'>

/** A refusal because of the signature. */
export type SignatureFault = RefusalCause & {
  reason: Extract<Refusal['reason'], 'unsigned' | 'other_scheme' | 'wrong_signature' | 'stale'>
}
