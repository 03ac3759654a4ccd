// The two ways in which a call fails: the engine says no, or no engine is heard.

/** The engine refused. `code` is one of the protocol's `API_ERROR_STATUS`, or `unknown` when the answer names none. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string
  /** What the engine adds to the code; of an answer without a code, its whole body. */
  readonly details: unknown
  /** Found in the engine's log. */
  readonly requestId: string | undefined

  constructor(answer: {
    status: number
    code: string
    message: string
    details?: unknown
    requestId?: string
  }) {
    super(answer.message)
    this.status = answer.status
    this.code = answer.code
    this.details = answer.details
    this.requestId = answer.requestId
  }
}

/** No engine answered, or what answered is none: refused, cut off, silent beyond the deadline. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  /** What was asked. */
  readonly url: string

  constructor(url: string, reason: string, cause?: unknown) {
    super(`${reason} (${url})`, { cause })
    this.url = url
  }
}

/** Why a `fetch` failed, in words: undici hides it in the cause. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return String(cause)
  // A host with several addresses fails with one error for each, and no message of its own.
  const inner = cause instanceof AggregateError ? (cause.errors[0] as Error) : cause
  return inner.message || inner.name
}
