// JSON of values that the engine stores: the type of a value after the round trip, and its text. A result is encoded
// once, where it is produced, and its text is spliced into the response.

import { NonRetriableError } from './errors.ts'
import { PAYLOAD_BYTES_MAX } from './limits.ts'
import { bigIntIn } from './lossy.ts'
import { byteLength, exceeds } from './text-size.ts'

type NotJson = symbol | ((...args: never[]) => unknown)

/** The type of a BigInt after the round trip, which no code can use: storing it fails the step. */
export interface NoBigInt {
  readonly error: 'A BigInt cannot be stored as JSON: return String(value)'
}

/** The type of an array element: one without JSON becomes `null`. */
type JsonElement<T> = unknown extends T
  ? T
  : T extends undefined | ((...args: never[]) => unknown) | symbol
    ? null
    : Json<T>

/**
 * The type of a value after the engine has stored and returned it. A `Date` becomes a string, functions are removed, and
 * `undefined` in an array becomes `null`. A handler sees this type, because every step result is replayed from storage.
 */
export type Json<T> = unknown extends T
  ? T
  : T extends NotJson
    ? never
    : T extends bigint
      ? NoBigInt
      : T extends { toJSON(): infer R }
        ? Json<R>
        : T extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>
          ? Record<string, never>
          : T extends readonly unknown[]
            ? { [K in keyof T]: JsonElement<T[K]> }
            : T extends object
              ? { [K in keyof T as T[K] extends NotJson ? never : K & string]: Json<T[K]> }
              : T

/**
 * Returns the JSON text of a value, or undefined for `undefined`. Throws a {@link NonRetriableError} that names `what`
 * when the value has no JSON form, or is too large for one response: a retry would fail the same way.
 */
export function encodePayload(value: unknown, what: string): string | undefined {
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
  if (text !== undefined && exceeds(text, PAYLOAD_BYTES_MAX)) {
    throw new NonRetriableError(
      `${what} is too large: ${byteLength(text)} bytes of JSON, at most ${PAYLOAD_BYTES_MAX} fit into one answer`,
    )
  }
  return text
}

/** First line of the message of a JSON error: V8 appends a drawing of a whole cycle. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.split('\n', 1)[0] as string
}
