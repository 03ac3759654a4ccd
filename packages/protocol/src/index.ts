// The constants and functions that engine and SDK need at run time, and every type. The schemas have an entry of their
// own, `@perdure/protocol/schema`, so that runners do not load them.

export { API_ERROR_STATUS, type ApiErrorCode } from './api/error-codes.ts'
export type * from './api/types.ts'
export {
  BUFFER_KINDS,
  BULK_ACTIONS,
  BULK_OUTCOMES,
  CATCH_UPS,
  CONTROL_ACTIONS,
  DELIVERY_KINDS,
  DELIVERY_STATUSES,
  EVENT_SOURCES,
  KEY_KINDS,
  LIFECYCLE_KINDS,
  LIMIT_KINDS,
  RECEIVER_SCHEMES,
  RUN_SORT_KEYS,
  RUN_STATUSES,
  RUN_TYPES,
  SCHEDULE_SORTS,
  SCHEDULE_SOURCES,
  SERIES_STEPS,
  SESSION_KINDS,
  SORT_DIRECTIONS,
  STEP_STATUSES,
  TERMINAL_STATUSES,
  WAITING_KINDS,
} from './api/values.ts'
export type * from './connect/frames.ts'
export {
  CLOSE_CODES,
  CONNECT_FRAME_BYTES_MAX,
  CONNECT_HEARTBEAT_MS,
  CONNECT_SILENCE_MS,
} from './connect/frames.ts'
export { callKeptAlive, type KeptAliveAnswer, type KeptAliveCall } from './http/kept-alive.ts'
export { connectionRemedy, keyRemedy } from './remedies.ts'
export {
  ENGINE_SECRET_FILES,
  ENGINE_SETTINGS,
  RUNNER_SETTINGS,
  type ShownSetting,
  unknownSetting,
} from './settings.ts'
export {
  isAddressed,
  keyFingerprint,
  recipientOf,
  SECRET_KEY_BYTES_MIN,
  SIGNATURE_WINDOW_MS,
  signBody,
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
export { hintFor, nearestName, quoteName } from './unknown-name.ts'
export * from './wire/bounds.ts'
export { DURATION_FORMS, durationText, parseDurationMs } from './wire/duration.ts'
export { hashStepId, positionalStepId } from './wire/step-id.ts'
export type * from './wire/types.ts'
export { ROOT_SCOPE } from './wire/types.ts'
export {
  ATTRIBUTES_FEATURE,
  CONNECT_SUBPROTOCOL,
  DIALLED_HOST_HEADER,
  END_WITH_STEPS_FEATURE,
  HTTP_CHECKPOINTS_FEATURE,
  MEMO_OP_FEATURE,
  PROTOCOL_HEADER,
  PROTOCOL_VERSION,
  SIGNATURE_FEATURE,
  SIGNATURE_HEADER,
  STEP_POLICY_FEATURE,
  STEP_TIMES_FEATURE,
} from './wire/version.ts'
