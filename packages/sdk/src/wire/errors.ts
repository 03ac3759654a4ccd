// The errors of passes: those that a workflow author throws to control retries, and those that a pass throws. Also
// converts any thrown value to the StepError of the wire.

import { NonRetriableError } from '@perdure/client'
import { define, matchByBrand, restore, WHOLE_STACK } from '@perdure/client/internal'
import {
  cutErrorText,
  cutText,
  DURATION_FORMS,
  ERROR_CAUSES_MAX,
  type ErrorCause,
  errorCodeOf,
  errorFieldsOf,
  parseDurationMs,
  type StepError,
} from '@perdure/protocol'
import { ERROR_CHARS_MAX } from './limits.ts'
import { clip } from './text-size.ts'

const retryAfter: unique symbol = Symbol.for('perdure.retry-after-ms') as never
const stored: unique symbol = Symbol.for('perdure.stored-error') as never

/** Maximum number of stacks in the StepError of one thrown error: its own and those of its causes. */
const STACKS_MAX = 6
/** Maximum length of an error's text in the runner's log. */
const LOGGED_CHARS_MAX = 4000
/** Maximum number of causes that are followed. */
const CAUSES_MAX = 16
/** Maximum number of errors in an AggregateError whose stacks are included. */
const AGGREGATED_MAX = 3

/** Thrown in a step, it sets the delay (or the time) of the next attempt instead of the retry policy's backoff. */
export class RetryAfterError extends Error {
  static {
    matchByBrand(RetryAfterError, retryAfter)
  }
  readonly [retryAfter]: number
  /** @param after milliseconds, a duration such as `"30s"`, or the time of the next attempt */
  constructor(message: string, after: number | string | Date, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RetryAfterError'
    const delayMs = after instanceof Date ? Math.max(0, after.getTime() - Date.now()) : parseDurationMs(after)
    if (delayMs === undefined || Number.isNaN(delayMs)) {
      throw new TypeError(`RetryAfterError: not a duration or a time: ${String(after)} (${DURATION_FORMS})`)
    }
    this[retryAfter] = delayMs
  }
}

/**
 * A step call rejects with this error when the engine has stored an error for the step. `message`, `name`, `stack`, `code`,
 * `cause` and own scalar fields come from the original error. If the handler does not catch it, the run fails without a retry,
 * because a retry would replay the same stored error.
 */
export class StepFailedError extends Error {
  static {
    matchByBrand(StepFailedError, stored)
  }
  readonly [stored] = true
  /** Name of the step that failed. */
  readonly stepName: string
  /** Code of the original error, such as `ECONNREFUSED` or `step_timeout`. */
  declare readonly code?: string | number
  /** The step of a child that failed the child; only on the error of a child. */
  declare readonly childStepName?: string
  /** Own fields of the original error. */
  readonly [field: string]: unknown
  constructor(stepName: string, error: StepError) {
    super(error.message)
    restore(this, error)
    this.stepName = stepName
    if (error.stepName !== undefined) define(this, 'childStepName', error.stepName)
  }
}

/** A step took longer than its `timeout`. The attempt failed and is retried like any other. */
export class StepTimeoutError extends Error {
  readonly code = 'step_timeout'
  constructor(stepName: string, timeout: number | string) {
    super(
      `Step "${stepName}" took longer than its timeout of ${typeof timeout === 'number' ? `${timeout} ms` : timeout}`,
    )
    this.name = 'StepTimeoutError'
  }
}

/** A stored step is called as a step of another kind. This ends the pass, and no handler can catch the error. */
export class NondeterminismError extends Error {
  readonly code = 'nondeterministic'
  constructor(stepName: string, kinds: { stored: string; called: string }) {
    super(
      `Step "${stepName}" is stored as ${kinds.stored}, and the code now calls it as ${kinds.called}: give the step another name`,
    )
    this.name = 'NondeterminismError'
  }
}

/** Returns the delay of a {@link RetryAfterError}; undefined for other errors. */
export function retryAfterMsOf(error: unknown): number | undefined {
  return error instanceof Error && retryAfter in error ? (error[retryAfter] as number) : undefined
}

/**
 * Whether a handler that threw this error fails its run without a retry: it is a {@link NonRetriableError}, a stored
 * step error, an error caused by one of these, or an aggregate of nothing else.
 */
export function isFatal(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > CAUSES_MAX) return false
  if (error instanceof NonRetriableError || stored in error || error instanceof NondeterminismError) return true
  if (error instanceof AggregateError && error.errors.length > 0) {
    return error.errors.every(one => isFatal(one, depth + 1))
  }
  return isFatal(error.cause, depth + 1)
}

/**
 * Returns the name of the step whose stored failure a handler threw: directly, as a cause, or as the first error of an aggregate
 * that {@link isFatal}. Undefined if the handler failed by itself.
 */
export function failedStepOf(error: unknown, depth = 0): string | undefined {
  if (!(error instanceof Error) || depth > CAUSES_MAX || error instanceof NonRetriableError) return undefined
  if (error instanceof StepFailedError) return error.stepName
  if (error instanceof AggregateError && error.errors.length > 0) {
    return isFatal(error) ? failedStepOf(error.errors[0], depth + 1) : undefined
  }
  return failedStepOf(error.cause, depth + 1)
}

/** The error of a failed run, as its on-failure handler receives it. */
export interface RunFailure extends Error {
  /** Code of the thrown error, otherwise the run's, such as `step_failed` or `timeout`. */
  readonly code?: string | number
  /** The step that ended the run. */
  readonly stepName?: string
  /** Own fields of the thrown error. */
  readonly [field: string]: unknown
}

/** Returns the error of a failed run in the form that its on-failure handler receives. */
export function reviveError(error: StepError): RunFailure {
  const revived = restore(new Error(error.message), error)
  if (error.stepName !== undefined) define(revived, 'stepName', error.stepName)
  return revived as RunFailure
}

/** Converts any thrown value to a StepError, whose size is bounded so that it fits a response. Never throws. */
export function toStepError(thrown: unknown): StepError {
  try {
    if (!isErrorLike(thrown)) {
      const error: StepError = { message: clip(describe(thrown), ERROR_CHARS_MAX), name: 'Error' }
      if (typeof thrown === 'object' && thrown !== null) addDetail(error, thrown, ERROR_CAUSES_MAX)
      return error
    }
    const error: StepError = {
      message: clip(thrown.message, ERROR_CHARS_MAX),
      name: cutText(String(thrown.name ?? 'Error'), 256),
    }
    const stack = stackOf(thrown)
    if (stack !== '') error.stack = stack
    addDetail(error, thrown, ERROR_CAUSES_MAX)
    return error
  } catch {
    return { message: 'A value that cannot be read was thrown', name: 'Error' }
  }
}

/** Adds the code, the own fields and the causes of a thrown object. */
function addDetail(error: StepError | ErrorCause, thrown: object, causesMax: number): void {
  const { code, cause = null }: { code?: unknown; cause?: unknown } = thrown
  const text = errorCodeOf(code)
  if (text !== undefined) error.code = text
  const fields = errorFieldsOf(thrown)
  if (fields !== undefined) error.fields = fields
  if (cause === null || causesMax === 0) return
  const message = isErrorLike(cause) ? cause.message : describe(cause)
  error.cause = { message: cutErrorText(message), name: cutErrorText(String((cause as Error).name ?? 'Error')) }
  if (typeof cause === 'object') addDetail(error.cause, cause, causesMax - 1)
}

/** Returns a readable text of a thrown value: the stack, if there is one, which begins with name and message. */
export function textOf(thrown: unknown): string {
  const { stack, message } = toStepError(thrown)
  return clip(stack ?? message, LOGGED_CHARS_MAX)
}

/** Checks by shape: an error of another realm (such as a `vm` context) is not an instance of this realm's Error. */
function isErrorLike(thrown: unknown): thrown is Error {
  return typeof thrown === 'object' && thrown !== null && typeof (thrown as Error).message === 'string'
}

/**
 * Returns the stack, with the stacks of the causes and of the first aggregated errors, because a message such as "fetch failed"
 * explains nothing without its cause. Each stack gets an equal share of the space, so that a long stack does not cut off the
 * causes after it.
 */
function stackOf(thrown: Error): string {
  const parts: string[] = []
  collectStacks(thrown, '', parts)
  const charsMax = Math.floor(ERROR_CHARS_MAX / parts.length)
  return parts.map(part => clip(part, charsMax)).join('\n')
}

function collectStacks(thrown: unknown, link: string, parts: string[]): void {
  if (parts.length >= STACKS_MAX) return
  if (!isErrorLike(thrown)) {
    parts.push(link + describe(thrown))
    return
  }
  const stack = typeof thrown.stack === 'string' ? thrown.stack : ''
  parts.push(link + (stack === '' && link !== '' ? thrown.message : stack))
  if (thrown instanceof AggregateError) {
    for (const one of thrown.errors.slice(0, AGGREGATED_MAX)) collectStacks(one, 'Contains: ', parts)
  }
  if (WHOLE_STACK in thrown) return
  if (thrown.cause !== undefined && thrown.cause !== null) collectStacks(thrown.cause, 'Caused by: ', parts)
}

function describe(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown
  try {
    return JSON.stringify(thrown) ?? String(thrown)
  } catch {
    return Object.prototype.toString.call(thrown)
  }
}
