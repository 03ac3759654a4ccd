// The machine-readable codes of error bodies, each with its one HTTP status. The engine sends them, the client exposes
// them, the OpenAPI document lists them.

export const API_ERROR_STATUS = {
  invalid_request: 400,
  invalid_json: 400,
  invalid_cursor: 400,
  protocol_mismatch: 400,
  payload_too_large: 413,
  unsupported_media_type: 415,
  method_not_allowed: 405,
  unauthorized: 401,
  forbidden: 403,
  namespace_suspended: 403,
  not_found: 404,
  step_not_found: 404,
  conflict: 409,
  run_terminal: 409,
  run_not_paused: 409,
  run_not_finished: 409,
  delivery_in_flight: 409,
  slug_taken: 409,
  already_running: 409,
  callback_used: 409,
  run_ended: 409,
  rejected: 409,
  gone: 410,
  rate_limited: 429,
  overloaded: 503,
  unavailable: 503,
  internal: 500,
} as const

export type ApiErrorCode = keyof typeof API_ERROR_STATUS
