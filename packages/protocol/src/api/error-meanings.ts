// The meaning of each error code, as the OpenAPI document, `docs/http-api` and `docs/errors.md` print it. The texts
// are apart from the codes so that runners and clients do not load them.

import type { ApiErrorCode } from './error-codes.ts'

export const API_ERROR_MEANING: Record<ApiErrorCode, string> = {
  invalid_request: 'a part of the request is missing, of the wrong type or out of bounds; the message names it',
  invalid_json: 'the body is not JSON, not UTF-8, or nested deeper than 200 levels',
  invalid_cursor: 'the cursor is malformed or belongs to another list',
  protocol_mismatch: 'the peer speaks another wire version',
  unauthorized: 'no key, or a wrong one',
  forbidden: 'the key is right but of the wrong kind',
  namespace_suspended: 'the namespace is suspended',
  not_found: 'it does not exist, or it belongs to another namespace',
  step_not_found: 'the run has no step of that name or id',
  method_not_allowed: 'the path does not support the method',
  conflict: 'the state does not allow the action',
  run_terminal: 'the run has ended',
  run_not_paused: 'only a paused run can be resumed',
  run_not_finished: 'only a finished run can be forked',
  delivery_in_flight: 'the delivery is in progress',
  slug_taken: 'another receiver has that slug',
  already_running:
    'a run of the workflow is live, `details.liveRunId` of its singleton or `details.runId` with the key: nothing was started',
  callback_used: 'the callback was already used; nothing was changed',
  run_ended: 'the run has ended: the signal was not taken, or the update got no answer',
  rejected: 'the handler rejected the update, with this message',
  gone: 'the token has expired, or its run or step has ended',
  payload_too_large: 'the body is too large',
  unsupported_media_type: 'the body is not `application/json`',
  rate_limited: 'too many requests, or too much registered or open; see `Retry-After`',
  internal: 'a defect of the engine; the log has it under the request id',
  overloaded: 'the engine is full and refused before storing anything; see `Retry-After`',
  unavailable: 'a dependency does not answer, or the engine is shutting down; see `Retry-After`',
}
