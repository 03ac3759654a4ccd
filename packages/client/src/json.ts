// The type of a value after the engine has stored it as JSON and returned it.

type NotJson = symbol | ((...args: never[]) => unknown)

type Scalar = string | number | boolean | null

/** Values that JSON keeps as they are: their type stays the one that the code names. */
type Plain = Scalar | readonly Plain[] | { readonly [key: string]: Plain | undefined }

/** JSON turns it into an object of numbers: no type, so that a union keeps its other members. */
type Binary = ArrayBufferLike | ArrayBufferView

/** The type of a BigInt after the round trip, which no code can use: storing it fails the step. */
export interface NoBigInt {
  readonly error: 'A BigInt cannot be stored as JSON: return String(value)'
}

/**
 * The type of a value after the engine has stored and returned it. A `Date` becomes a string, functions are removed, and
 * `undefined` as a result or in an array becomes `null`. A handler sees this type, because every step result is replayed from
 * storage.
 */
export type Json<T> = unknown extends T ? T : T extends undefined ? null : JsonValue<T>

/** The type of a member after the round trip: {@link Json}, but that `undefined` stays. */
export type JsonValue<T> = unknown extends T
  ? T
  : T extends Plain | undefined
    ? T
    : T extends NotJson | Binary
      ? never
      : T extends bigint
        ? NoBigInt
        : T extends { toJSON(): infer R }
          ? JsonValue<R>
          : T extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>
            ? Record<string, never>
            : T extends readonly unknown[]
              ? JsonArray<T>
              : T extends object
                ? JsonObject<T>
                : T

// Named, so that declarations of recursive types name them instead of their endless content.

/** An array or tuple after the round trip. */
export type JsonArray<T extends readonly unknown[]> = { [K in keyof T]: JsonElement<T[K]> }

/** The type of an array element; an element without JSON becomes `null`. */
type JsonElement<T> = unknown extends T ? T : T extends undefined | NotJson ? null : JsonValue<T>

/** An object after the round trip. Keys that are symbols stay, since types have them as brands alone. */
export type JsonObject<T> = { [K in keyof T as T[K] extends NotJson ? never : K]: JsonValue<T[K]> }
