// The constants and functions that engine and SDK need at run time, and every type. The schemas have an entry of their
// own, `@perdure/protocol/schema`, so that runners do not load them.

export type * from './api.ts'
export { API_ERROR_STATUS, type ApiErrorCode } from './api-error.ts'
export type * from './connect.ts'
export {
  CLOSE_CODES,
  CONNECT_FRAME_BYTES_MAX,
  CONNECT_HEARTBEAT_MS,
  CONNECT_SILENCE_MS,
} from './connect.ts'
export { DURATION_FORMS, parseDurationMs } from './duration.ts'
export { ENGINE_SETTINGS, RUNNER_SETTINGS, unknownSetting } from './settings.ts'
export { keyFingerprint, SIGNATURE_WINDOW_MS, signBody, UNSIGNED, verifyBody } from './signature.ts'
export { hashStepId, positionalStepId } from './step-id.ts'
export { CONNECT_SUBPROTOCOL, PROTOCOL_HEADER, PROTOCOL_VERSION, SIGNATURE_HEADER } from './version.ts'
export {
  isMalformedWebhookSecret,
  signWebhook,
  verifyWebhook,
  WEBHOOK_SECRET_PREFIX,
  type WebhookVerdict,
  webhookKeyOf,
} from './webhook-signature.ts'
export type * from './wire.ts'
export { ROOT_SCOPE } from './wire.ts'
