// Reads the error that a runner sends: the known members, within their bounds. Nothing in it is trusted.

import {
  cutErrorText,
  ERROR_CAUSES_MAX,
  type ErrorCause,
  type ErrorFields,
  errorCodeOf,
  errorFieldsOf,
  type StepError,
} from '@perdure/protocol'

/** An error of which only the message, the stack and the name were checked. */
export type SentError = Pick<StepError, 'message' | 'stack' | 'name'> & {
  code?: unknown
  fields?: unknown
  cause?: unknown
}

/** The error as it is stored. */
export function stepErrorOf({ message, stack, name, ...sent }: SentError): StepError {
  const error: StepError = { message }
  if (stack !== undefined) error.stack = stack
  if (name !== undefined) error.name = name
  addDetail(error, sent, ERROR_CAUSES_MAX)
  return error
}

type Detail = { code?: unknown; fields?: unknown; cause?: unknown }

function addDetail(
  error: { code?: string; fields?: ErrorFields; cause?: ErrorCause },
  sent: Detail,
  causesMax: number,
): void {
  const code = errorCodeOf(sent.code)
  const fields = isObject(sent.fields) ? errorFieldsOf(sent.fields, { withCode: true }) : undefined
  const cause = isObject(sent.cause) && causesMax > 0 ? causeOf(sent.cause, causesMax) : undefined
  if (code !== undefined) error.code = code
  if (fields !== undefined) error.fields = fields
  if (cause !== undefined) error.cause = cause
}

function causeOf(sent: Detail & { message?: unknown; name?: unknown }, causesMax: number): ErrorCause | undefined {
  if (typeof sent.message !== 'string') return undefined
  const cause: ErrorCause = { message: cutErrorText(sent.message) }
  if (typeof sent.name === 'string') cause.name = cutErrorText(sent.name)
  addDetail(cause, sent, causesMax - 1)
  return cause
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
