// The detail of an error besides message, name and stack: its code, its own fields, and its causes
// (docs/errors.md#errors-of-your-code). The SDK reads it from the errors that user code throws, the engine from those that a
// runner sends; both apply the same bounds.

import { cutText } from './cut-text.ts'
import { isSecretKey, REDACTED } from './secret-key.ts'
import type { StepError } from './wire/types.ts'

/** Maximum length of the `code` of an error, and of the name of one of its fields, in characters. */
const ERROR_KEY_CHARS_MAX = 128
/** Maximum number of own fields kept of an error. */
const ERROR_FIELDS_MAX = 32
/** Maximum length of a text field of an error, and of the message of a cause, in characters; the rest is cut off. */
const ERROR_FIELD_CHARS_MAX = 1024
/** Maximum number of causes kept of an error, each the cause of the previous one. */
export const ERROR_CAUSES_MAX = 5

export type ErrorFields = NonNullable<StepError['fields']>

/** Names that have their own meaning in an error, or would hide members that every error has. */
function isReserved(key: string): boolean {
  return key === 'stack' || key === 'cause' || key === 'stepName' || key in Error.prototype
}

/**
 * Returns the own enumerable members of an error, or of its `fields`, that are scalars, within the bounds; undefined if there are
 * none. A text `code` is no field: it is the `code` of the error. Values under keys that name a secret are redacted.
 */
export function errorFieldsOf(source: object, { withCode = false } = {}): ErrorFields | undefined {
  const fields: [key: string, value: ErrorFields[string]][] = []
  for (const key of Object.keys(source)) {
    if (fields.length === ERROR_FIELDS_MAX) break
    if (key.length > ERROR_KEY_CHARS_MAX || isReserved(key)) continue
    const value = scalarAt(source, key)
    if (value === undefined || (key === 'code' && typeof value === 'string' && !withCode)) continue
    fields.push([key, isSecretKey(key) ? REDACTED : value])
  }
  return fields.length === 0 ? undefined : Object.fromEntries(fields)
}

/** The member, if it is a scalar. A getter of user code may throw. */
function scalarAt(source: object, key: string): ErrorFields[string] | undefined {
  let value: unknown
  try {
    value = (source as Record<string, unknown>)[key]
  } catch {
    return undefined
  }
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  return typeof value === 'string' ? cutErrorText(value) : undefined
}

/** Cuts a text of an error's detail. A text that was already cut stays the same. */
export function cutErrorText(text: string): string {
  return cutText(text, ERROR_FIELD_CHARS_MAX - 1, '…')
}

/** The `code` of an error, if it is a text within its bound. */
export function errorCodeOf(code: unknown): string | undefined {
  return typeof code === 'string' && code !== '' && code.length <= ERROR_KEY_CHARS_MAX ? code : undefined
}

/**
 * Returns the error of a run that failed with `error`: its `code` belongs to this protocol, so the code of the thrown error, if
 * it had one, is the field `code`.
 */
export function asRunError<Code extends string>(
  { code: own, stepName: _, ...error }: StepError,
  code: Code,
  stepName?: string,
): StepError & { code: Code } {
  return {
    ...error,
    code,
    ...(stepName === undefined ? {} : { stepName }),
    ...(own === undefined || own === code ? {} : { fields: { code: own, ...error.fields } }),
  }
}

/** The reverse of {@link asRunError}: the code of the thrown error, else the code of the run. */
export function asThrownError({ code, fields: { code: own, ...fields } = {}, ...error }: StepError): StepError {
  const thrown = errorCodeOf(own) ?? code
  const kept = typeof own === 'string' || own === undefined ? fields : { code: own, ...fields }
  return {
    ...error,
    ...(thrown === undefined ? {} : { code: thrown }),
    ...(Object.keys(kept).length === 0 ? {} : { fields: kept }),
  }
}
