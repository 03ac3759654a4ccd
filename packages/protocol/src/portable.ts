// The part of the main entry that runs in browsers: without the functions that need `node:crypto`. The console and the client
// import it.

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
  ENGINE_EVENT_PREFIX,
  EVENT_SOURCES,
  FOLLOW_ON_KINDS,
  HOLDING_WAITS,
  IF_RUNNING,
  type IfRunning,
  KEY_KINDS,
  LIFECYCLE_KINDS,
  LIMIT_KINDS,
  RECEIVER_SCHEMES,
  RUN_KINDS,
  RUN_SORT_KEYS,
  RUN_STATUSES,
  RUN_TYPES,
  type RunFilterName,
  SCHEDULE_SORTS,
  SCHEDULE_SOURCES,
  SERIES_STEPS,
  SESSION_KINDS,
  SORT_DIRECTIONS,
  STEP_STATUSES,
  TERMINAL_STATUSES,
  WAITING_KINDS,
} from './api/values.ts'
export { bodyText, type ForeignAnswer, foreignAnswer } from './body-text.ts'
export * from './connect/frames.ts'
export { cutText } from './cut-text.ts'
export * from './error-detail.ts'
export { withFirstSent } from './first-sent.ts'
export { callAnyEngine, DEFAULT_ENGINE_URL, type EngineAnswer, EngineList } from './http/engine-list.ts'
export { callKeptAlive, type KeptAliveAnswer, type KeptAliveCall } from './http/kept-alive.ts'
export { oldNodeProblem } from './old-node.ts'
export { connectionRemedy, foreignRemedy, keyRemedy } from './remedies.ts'
export { isSecretKey, REDACTED } from './secret-key.ts'
export * from './settings.ts'
export { hintFor, nearestName, nearestNames, quoteName } from './unknown-name.ts'
export * from './wire/bounds.ts'
export * from './wire/duration.ts'
export * from './wire/event-match.ts'
export { FEATURES, type Feature, knows } from './wire/features.ts'
export * from './wire/types.ts'
export * from './wire/version.ts'
