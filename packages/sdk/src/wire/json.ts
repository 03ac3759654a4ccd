// The JSON text of values that the engine stores. A result is encoded once, where it is produced, and its text is spliced into
// the response.

import { NonRetriableError } from '@perdure/client'
import { PAYLOAD_BYTES_MAX } from './limits.ts'
import { bigIntIn } from './lossy.ts'
import { byteLength, exceeds } from './text-size.ts'

/**
 * Returns the JSON text of a value, or undefined for `undefined`. Throws a {@link NonRetriableError} that names `what` if the
 * value has no JSON form or is too large for one response: a retry would fail the same way.
 */
export function encodePayload(value: unknown, what: string): string | undefined {
  const text = jsonText(value, what)
  if (text !== undefined && exceeds(text, PAYLOAD_BYTES_MAX)) {
    throw new NonRetriableError(
      `${what} is too large: ${byteLength(text)} bytes of JSON, at most ${PAYLOAD_BYTES_MAX} fit into one answer`,
    )
  }
  return text
}

/** Does the same without a size limit. */
export function jsonText(value: unknown, what: string): string | undefined {
  if (value === undefined) return undefined
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (error) {
    const place = bigIntIn(value)
    const reason = place === undefined ? reasonOf(error) : `it has a BigInt${place}. Store it as text: String(value)`
    throw new NonRetriableError(`${what} cannot be stored as JSON: ${reason}`, { cause: error })
  }
  if (text === undefined && (typeof value === 'function' || typeof value === 'symbol')) {
    throw new NonRetriableError(`${what} cannot be stored as JSON: it is a ${typeof value}`)
  }
  return text
}

/** Returns the first line of a JSON error's message: V8 appends a drawing of the whole cycle. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.split('\n', 1)[0] as string
}
