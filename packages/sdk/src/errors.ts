// Every error of the SDK: those a workflow author throws to steer retries, those the SDK throws at the author,
// and how any thrown value becomes the StepError of the wire (contract §2.11).
//
// Kinds are marked with registered symbols, and `instanceof` goes by them: two copies of the SDK in one process
// must still recognise each other's errors.

import { DURATION_FORMS, parseDurationMs, type StepError } from '@perdure/protocol'
import { goByBrand } from './error-brand.ts'
import { ERROR_CHARS_MAX } from './limits.ts'

const nonRetriable: unique symbol = Symbol.for('perdure.non-retriable') as never
const retryAfter: unique symbol = Symbol.for('perdure.retry-after-ms') as never
const stored: unique symbol = Symbol.for('perdure.stored-error') as never
const invalidData: unique symbol = Symbol.for('perdure.invalid-data') as never
const perdureError: unique symbol = Symbol.for('perdure.error') as never

/** Stacks kept of one thrown error and its causes, and errors looked at of an aggregate. */
const STACKS_MAX = 6
const AGGREGATED_MAX = 3

/** Thrown in a step: the step fails now, whatever attempts are left. Thrown in a handler: the run fails now. */
export class NonRetriableError extends Error {
  static {
    goByBrand(NonRetriableError, nonRetriable)
  }
  readonly [nonRetriable] = true
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'NonRetriableError'
  }
}

/** One thing that is wrong with a value: where (`data.items.0.sku`), and what. */
export interface DataIssue {
  readonly path: string
  readonly message: string
}

/** The input of a workflow, or the data of an event, is not what its schema demands: another try cannot mend that. */
export class InvalidDataError extends NonRetriableError {
  static {
    goByBrand(InvalidDataError, invalidData)
  }
  readonly [invalidData] = true
  /** The first of them. */
  readonly issues: readonly DataIssue[]
  /** @param count of all issues, when `issues` are not all */
  constructor(what: string, issues: readonly DataIssue[], count = issues.length) {
    const list = issues.map(({ path, message }) => `${path}: ${message}`).join('; ')
    super(`${what} is invalid: ${list}${count > issues.length ? `; and ${count - issues.length} more` : ''}`)
    this.name = 'InvalidDataError'
    this.issues = issues
  }
}

/** Thrown in a step: try again after this long (or at this time) instead of after the policy's backoff. */
export class RetryAfterError extends Error {
  static {
    goByBrand(RetryAfterError, retryAfter)
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
 * What a step call rejects with when the engine stored an error for it: `message`, `name` and `stack` are those
 * of the original error. Left uncaught it fails the run at once: no repetition changes a stored error.
 */
export class StepFailedError extends Error {
  static {
    goByBrand(StepFailedError, stored)
  }
  readonly [stored] = true
  /** Name of the step that failed. */
  readonly stepName: string
  constructor(stepName: string, error: StepError) {
    super(error.message)
    this.stepName = stepName
    restore(this, error)
  }
}

/** What {@link import('./client.ts').Client} and the registration throw: the engine's refusal, or no answer. */
export class PerdureError extends Error {
  static {
    goByBrand(PerdureError, perdureError)
  }
  readonly [perdureError] = true
  /**
   * The engine's error code, or from this side `unreachable`, `timeout`, `invalid_response`, `invalid_json`,
   * `untrusted_engine` (it did not sign with the runner's key), `http_` and the status of an answer that is not ours.
   */
  readonly code: string
  /** HTTP status of the answer; 0 when there was none. */
  readonly status: number
  readonly requestId: string | undefined
  constructor(
    problem: { code: string; status: number; message: string; requestId?: string },
    options?: ErrorOptions,
  ) {
    super(problem.message, options)
    this.name = 'PerdureError'
    this.code = problem.code
    this.status = problem.status
    this.requestId = problem.requestId
  }
}

/** A setting of the environment that cannot be used: the runner does not start. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ConfigError'
    // No line of code is at fault: one that nobody catches ends the process with this line.
    this.stack = `${this.name}: ${message}`
  }
}

/** Whether a step that threw this must not be tried again. */
export function isNonRetriable(error: unknown): boolean {
  return error instanceof Error && nonRetriable in error
}

/** The delay a {@link RetryAfterError} asks for. */
export function retryAfterMsOf(error: unknown): number | undefined {
  return error instanceof Error && retryAfter in error ? (error[retryAfter] as number) : undefined
}

/**
 * Whether a handler that threw this fails its run without another try: a {@link NonRetriableError}, or an
 * error that is, was caused by, or aggregates nothing but stored step errors.
 */
export function isFatal(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > 16) return false
  if (nonRetriable in error || stored in error) return true
  if (error instanceof AggregateError && error.errors.length > 0) {
    return error.errors.every(one => isFatal(one, depth + 1))
  }
  return isFatal(error.cause, depth + 1)
}

/** The error a run failed with, as its on-failure handler receives it. */
export function reviveError(error: StepError): Error {
  return restore(new Error(error.message), error)
}

/** Any thrown value as a StepError, bounded so that it always fits a response. Never throws. */
export function toStepError(thrown: unknown): StepError {
  try {
    if (!isErrorLike(thrown)) return { message: clip(describe(thrown)), name: 'Error' }
    const error: StepError = {
      message: clip(thrown.message),
      name: String(thrown.name ?? 'Error').slice(0, 256),
    }
    const stack = stackOf(thrown)
    if (stack !== '') error.stack = stack
    return error
  } catch {
    return { message: 'A value that cannot be read was thrown', name: 'Error' }
  }
}

/** Errors of other realms are no instances of ours. */
function isErrorLike(thrown: unknown): thrown is Error {
  return typeof thrown === 'object' && thrown !== null && typeof (thrown as Error).message === 'string'
}

/**
 * The stack with those of the causes and of the first aggregated errors: "fetch failed" alone tells nobody anything.
 * Each gets an equal share of the room, so that a long one on top does not cut off the cause below.
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
  if (thrown.cause !== undefined && thrown.cause !== null) collectStacks(thrown.cause, 'Caused by: ', parts)
}

function restore<E extends Error>(target: E, error: StepError): E {
  target.name = error.name ?? 'Error'
  target.stack = error.stack ?? `${target.name}: ${error.message}`
  return target
}

function describe(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown
  try {
    return JSON.stringify(thrown) ?? String(thrown)
  } catch {
    return Object.prototype.toString.call(thrown)
  }
}

function clip(text: string, charsMax = ERROR_CHARS_MAX): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax)}...`
}
