// The errors that `write` and `flush` of an output stream reject with.

import { NonRetriableError } from '@perdure/client'
import { matchByBrand } from '@perdure/client/internal'

const streamLimit: unique symbol = Symbol.for('perdure.stream-limit') as never
const streamUnavailable: unique symbol = Symbol.for('perdure.stream-unavailable') as never

/** A chunk, a stream or a run exceeds a bound, which the message names. The step is not retried. */
export class StreamLimitError extends NonRetriableError {
  static {
    matchByBrand(StreamLimitError, streamLimit)
  }
  readonly [streamLimit] = true
  constructor(message: string) {
    super(message)
    this.name = 'StreamLimitError'
  }
}

/** No engine has accepted the chunks of a stream for 30 seconds. The step is retried. */
export class StreamUnavailableError extends Error {
  static {
    matchByBrand(StreamUnavailableError, streamUnavailable)
  }
  readonly [streamUnavailable] = true
  constructor(message: string) {
    super(message)
    this.name = 'StreamUnavailableError'
  }
}
