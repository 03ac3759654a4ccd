// The catalogue of errors (docs/errors.md). Domain and services throw these; only http/response/problem knows their HTTP
// statuses.

import type { ApiErrorCode } from '@perdure/protocol'
import type { Guard } from './change.ts'

/** Groups errors by what the caller can do: correct the input, get permission, look elsewhere, decide again, wait. */
export type Refusal = 'invalid' | 'forbidden' | 'notFound' | 'conflict' | 'overloaded'

/** Every code that an error body can have, with its kind of refusal. `docs/errors.md` lists the same. */
export const ERROR_CODES = {
  invalid_request: 'invalid',
  invalid_json: 'invalid',
  invalid_cursor: 'invalid',
  protocol_mismatch: 'invalid',
  payload_too_large: 'invalid',
  unsupported_media_type: 'invalid',
  method_not_allowed: 'invalid',
  unauthorized: 'forbidden',
  forbidden: 'forbidden',
  namespace_suspended: 'forbidden',
  not_found: 'notFound',
  step_not_found: 'notFound',
  conflict: 'conflict',
  run_terminal: 'conflict',
  run_not_paused: 'conflict',
  run_not_finished: 'conflict',
  delivery_in_flight: 'conflict',
  slug_taken: 'conflict',
  already_running: 'conflict',
  callback_used: 'conflict',
  run_ended: 'conflict',
  rejected: 'conflict',
  gone: 'conflict',
  rate_limited: 'overloaded',
  overloaded: 'overloaded',
  unavailable: 'overloaded',
  internal: 'overloaded',
} as const satisfies Record<ApiErrorCode, Refusal>

export type ErrorCode = ApiErrorCode

/** An error that a caller may see: a code of the catalogue, a sentence, and machine-readable details. */
export class EngineError extends Error {
  override name = 'EngineError'
  readonly code: ErrorCode
  readonly details?: Record<string, unknown>

  constructor(code: ErrorCode, message: string, options: { details?: Record<string, unknown>; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    if (options.details) this.details = options.details
  }
}

/** The error of an engine that is shutting down: `details.reason` distinguishes it from a dependency that does not answer. */
export function shuttingDown(): EngineError {
  return new EngineError('unavailable', 'the engine is shutting down', { details: { reason: 'shutting_down' } })
}

/** The error for bad input, naming the field. */
export function invalid(field: string, problem: string): EngineError {
  return new EngineError('invalid_request', `${field} ${problem}`, { details: { field } })
}

/** A guard of a unit failed. The service loads again and decides again; this error never leaves services. */
export class StaleError extends Error {
  override name = 'StaleError'
  readonly guard: Guard

  constructor(guard: Guard) {
    super(`stale ${guard.type} guard`)
    this.guard = guard
  }
}

/** Throws when the engine's own code has broken a rule that it relies on. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`Invariant broken: ${message}`)
}
