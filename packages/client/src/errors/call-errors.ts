// The errors of a call: the engine refused it, or no engine answered.

import { matchByBrand } from './brand.ts'

const perdureError: unique symbol = Symbol.for('perdure.error') as never

/**
 * A call to the engine failed: an {@link ApiError} when the engine refused it, a {@link ConnectionError} when no engine answered.
 * Errors of this class itself come from the calling side, before or after the request.
 */
export class PerdureError extends Error {
  static {
    matchByBrand(PerdureError, perdureError)
  }
  readonly [perdureError] = true
  /**
   * The engine's error code. Codes of the calling side: `unreachable`, `timeout`, `invalid_response`, `invalid_json`,
   * `untrusted_engine` (the engine did not sign with the runner's key), and `http_` with the status of a response that
   * has no error code.
   */
  readonly code: string
  /** HTTP status of the response; 0 without a response. */
  readonly status: number
  /** Id of the request in the engine's log. */
  readonly requestId: string | undefined
  constructor(
    problem: { code: string; status: number; message: string; requestId?: string | undefined },
    options?: ErrorOptions,
  ) {
    super(problem.message, options)
    this.name = 'PerdureError'
    this.code = problem.code
    this.status = problem.status
    this.requestId = problem.requestId
  }
}

/** The engine refused the call. `code` is a code of the engine, or `http_` with the status of an answer without one. */
export class ApiError extends PerdureError {
  static {
    matchByBrand(ApiError, perdureError, 'ApiError')
  }
  /** Details that the engine adds to the code; the whole body of an answer without a code. */
  readonly details: unknown

  constructor(answer: Pick<ApiError, 'status' | 'code' | 'message' | 'details' | 'requestId'>) {
    super(answer)
    this.name = 'ApiError'
    this.details = answer.details
  }
}

/**
 * No engine answered: the connection was refused or dropped (`unreachable`), the deadline passed (`timeout`), or another server
 * answered (`invalid_response`).
 */
export class ConnectionError extends PerdureError {
  static {
    matchByBrand(ConnectionError, perdureError, 'ConnectionError')
  }
  /** URL of the request. */
  readonly url: string

  constructor(url: string, reason: string, options: ErrorOptions & { code?: string; status?: number } = {}) {
    const { code = 'unreachable', status = 0, ...rest } = options
    super({ code, status, message: `${reason} (${url})` }, rest)
    this.name = 'ConnectionError'
    this.url = url
  }
}

/** Why a `fetch` failed. */
export function reasonOf(error: unknown): string {
  const cause = causeOf(error)
  return cause instanceof Error ? cause.message || cause.name : String(cause)
}

/** The operating system's code of a `fetch` that failed, such as `ECONNREFUSED`. */
export function codeOf(error: unknown): unknown {
  return (causeOf(error) as { code?: unknown } | undefined)?.code
}

/** Node's fetch has the reason in `cause`. Browsers give none, and their bundles leave this out. */
function causeOf(error: unknown): unknown {
  if (globalThis.process === undefined) return error
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  // A host with several addresses fails with one error per address, in an AggregateError without a message.
  return cause instanceof AggregateError ? cause.errors[0] : cause
}
