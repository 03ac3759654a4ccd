// The two errors of a call: the engine refused it, or no engine answered.

/** The engine refused the call. `code` is a key of the protocol's `API_ERROR_STATUS`, or `unknown` without one. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string
  /** Details that the engine adds to the code; the whole body of an answer without a code. */
  readonly details: unknown
  /** Id of the request in the engine's log. */
  readonly requestId: string | undefined

  constructor(answer: Pick<ApiError, 'status' | 'code' | 'message' | 'details' | 'requestId'>) {
    super(answer.message)
    this.status = answer.status
    this.code = answer.code
    this.details = answer.details
    this.requestId = answer.requestId
  }
}

/** No engine answered: the connection was refused or dropped, the deadline passed, or another server answered. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  /** URL of the request. */
  readonly url: string

  constructor(url: string, reason: string, cause?: unknown) {
    super(`${reason} (${url})`, { cause })
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

/** Node's fetch has the reason in `cause`. */
function causeOf(error: unknown): unknown {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  // A host with several addresses fails with one error per address, in an AggregateError without a message.
  return cause instanceof AggregateError ? cause.errors[0] : cause
}
