// The constants and functions that engine and SDK need at run time, and every type. The schemas have their own entry,
// `@perdure/protocol/schema`, so that runners do not load them.

export * from './portable.ts'
export {
  isAddressed,
  keyFingerprint,
  recipientOf,
  SECRET_KEY_BYTES_MIN,
  SIGNATURE_WINDOW_MS,
  signBody,
  signedAt,
  signFor,
  UNSIGNED,
  verifyBody,
  verifyFor,
} from './signatures/invoke-signature.ts'
export {
  isMalformedWebhookSecret,
  signWebhook,
  verifyWebhook,
  WEBHOOK_SECRET_PREFIX,
  type WebhookVerdict,
  webhookKeyOf,
} from './signatures/webhook-signature.ts'
export { hashStepId, positionalStepId } from './wire/step-id.ts'
