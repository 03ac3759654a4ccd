// The errors of the SDK: those that a workflow author throws to control retries, and those that the SDK throws. Also
// converts any thrown value to the StepError of the wire.
//
// Each class is marked with a registered symbol (its brand), and `instanceof` checks for the symbol: two copies of the SDK
// in one process must recognise each other's errors. A workflow file may load the CommonJS build while the server around
// it loads the ES modules.

import { DURATION_FORMS, parseDurationMs, type RunError, type StepError } from '@perdure/protocol'
import { ERROR_CHARS_MAX } from './limits.ts'
import { clip } from './text-size.ts'

const nonRetriable: unique symbol = Symbol.for('perdure.non-retriable') as never
const retryAfter: unique symbol = Symbol.for('perdure.retry-after-ms') as never
const stored: unique symbol = Symbol.for('perdure.stored-error') as never
const invalidData: unique symbol = Symbol.for('perdure.invalid-data') as never
const runEnded: unique symbol = Symbol.for('perdure.run-ended') as never
const perdureError: unique symbol = Symbol.for('perdure.error') as never

/** Most stacks in the StepError of one thrown error: its own and those of its causes. */
const STACKS_MAX = 6
/** Longest text of an error in the runner's log. */
const LOGGED_CHARS_MAX = 4000
/** How many causes of an error are followed. */
const CAUSES_MAX = 16
/** Most errors of an AggregateError whose stacks are included. */
const AGGREGATED_MAX = 3

/**
 * Makes `instanceof kind` check for the brand, a symbol that every instance has as a property. Classes derived from
 * `kind` keep the ordinary `instanceof`, since an instance of the base class also has the brand.
 */
function matchByBrand(kind: abstract new (...args: never) => Error, brand: symbol): void {
  const ordinary = Function.prototype[Symbol.hasInstance]
  Object.defineProperty(kind, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      if (this !== kind) return ordinary.call(this as object as typeof Error, value)
      return value instanceof Error && brand in value
    },
  })
}

/** Thrown in a step, it fails the step without a further attempt. Thrown in a handler, it fails the run. */
export class NonRetriableError extends Error {
  static {
    matchByBrand(NonRetriableError, nonRetriable)
  }
  readonly [nonRetriable] = true
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'NonRetriableError'
  }
}

/** One violation of a schema: its path (`data.items.0.sku`), and the schema's message. */
export interface DataIssue {
  readonly path: string
  readonly message: string
}

/** The input of a workflow, or the data of an event, violates its schema. It is not retried: the data stays the same. */
export class InvalidDataError extends NonRetriableError {
  static {
    matchByBrand(InvalidDataError, invalidData)
  }
  readonly [invalidData] = true
  /** The first violations, at most 20. */
  readonly issues: readonly DataIssue[]
  /** @param count number of all issues, when `issues` contains only the first */
  constructor(what: string, issues: readonly DataIssue[], count = issues.length) {
    const list = issues.map(({ path, message }) => `${path}: ${message}`).join('; ')
    super(`${what} is invalid: ${list}${count > issues.length ? `; and ${count - issues.length} more` : ''}`)
    this.name = 'InvalidDataError'
    this.issues = issues
  }
}

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
 * A step call rejects with this error when the engine has stored an error for the step. `message`, `name` and `stack`
 * are those of the original error. If the handler does not catch it, the run fails without a retry, since a retry would
 * replay the same stored error.
 */
export class StepFailedError extends Error {
  static {
    matchByBrand(StepFailedError, stored)
  }
  readonly [stored] = true
  /** Name of the step that failed. */
  readonly stepName: string
  /** Code of the original error, such as `step_timeout`. */
  readonly code?: string
  constructor(stepName: string, error: StepError) {
    super(error.message)
    this.stepName = stepName
    if (error.code !== undefined) this.code = error.code
    restore(this, error)
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

/** A step that is stored is called as one of another kind. It ends the pass, and no handler can catch it. */
export class NondeterminismError extends Error {
  readonly code = 'nondeterministic'
  constructor(stepName: string, kinds: { stored: string; called: string }) {
    super(
      `Step "${stepName}" is stored as ${kinds.stored}, and the code now calls it as ${kinds.called}: give the step another name`,
    )
    this.name = 'NondeterminismError'
  }
}

/** Thrown by `Client` and the registration: the engine refused, or did not respond. */
export class PerdureError extends Error {
  static {
    matchByBrand(PerdureError, perdureError)
  }
  readonly [perdureError] = true
  /**
   * The engine's error code. Codes of the SDK itself: `unreachable`, `timeout`, `invalid_response`, `invalid_json`,
   * `untrusted_engine` (the engine did not sign with the runner's key), and `http_` with the status of a response that
   * has no error code.
   */
  readonly code: string
  /** HTTP status of the response; 0 without a response. */
  readonly status: number
  readonly requestId: string | undefined
  constructor(problem: { code: string; status: number; message: string; requestId?: string }, options?: ErrorOptions) {
    super(problem.message, options)
    this.name = 'PerdureError'
    this.code = problem.code
    this.status = problem.status
    this.requestId = problem.requestId
  }
}

/** A run that `client.start()` started failed or was cancelled: `message`, `name` and `stack` are those of its error. */
export class RunEndedError extends Error {
  static {
    matchByBrand(RunEndedError, runEnded)
  }
  readonly [runEnded] = true
  readonly runId: string
  readonly status: 'failed' | 'cancelled'
  /** Code of the run's error, such as `step_failed`. */
  readonly code?: string
  /** The step that ended the run. */
  readonly stepName?: string
  constructor(run: { id: string; status: 'failed' | 'cancelled'; error?: RunError }) {
    super(run.error?.message ?? `Run ${run.id} was cancelled`)
    this.name = 'RunEndedError'
    this.runId = run.id
    this.status = run.status
    if (run.error?.code !== undefined) this.code = run.error.code
    if (run.error?.stepName !== undefined) this.stepName = run.error.stepName
    if (run.error) restore(this, run.error)
  }
}

/** An environment variable is invalid: the runner does not start. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ConfigError'
    // No line of code is at fault. If nobody catches the error, Node prints this stack and nothing else.
    this.stack = `${this.name}: ${message}`
  }
}

/** Whether a step that threw this error must not be retried. */
export function isNonRetriable(error: unknown): boolean {
  return error instanceof Error && nonRetriable in error
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
  if (nonRetriable in error || stored in error || error instanceof NondeterminismError) return true
  if (error instanceof AggregateError && error.errors.length > 0) {
    return error.errors.every(one => isFatal(one, depth + 1))
  }
  return isFatal(error.cause, depth + 1)
}

/**
 * Returns the name of the step whose stored failure a handler threw: as it was, as a cause, or as the first of an
 * aggregate that {@link isFatal}. Undefined when the handler failed by itself.
 */
export function failedStepOf(error: unknown, depth = 0): string | undefined {
  if (!(error instanceof Error) || depth > CAUSES_MAX || nonRetriable in error) return undefined
  if (error instanceof StepFailedError) return error.stepName
  if (error instanceof AggregateError && error.errors.length > 0) {
    return isFatal(error) ? failedStepOf(error.errors[0], depth + 1) : undefined
  }
  return failedStepOf(error.cause, depth + 1)
}

/** Returns the error of a failed run, as its on-failure handler receives it. */
export function reviveError(error: StepError): Error {
  return restore(new Error(error.message), error)
}

/** Converts any thrown value to a StepError, whose size is bounded so that it fits a response. Never throws. */
export function toStepError(thrown: unknown): StepError {
  try {
    if (!isErrorLike(thrown)) return { message: clip(describe(thrown), ERROR_CHARS_MAX), name: 'Error' }
    const error: StepError = {
      message: clip(thrown.message, ERROR_CHARS_MAX),
      name: String(thrown.name ?? 'Error').slice(0, 256),
    }
    const stack = stackOf(thrown)
    if (stack !== '') error.stack = stack
    return error
  } catch {
    return { message: 'A value that cannot be read was thrown', name: 'Error' }
  }
}

/** Returns the text of a thrown value for a person: the stack, which begins with name and message, where there is one. */
export function textOf(thrown: unknown): string {
  const { stack, message } = toStepError(thrown)
  return clip(stack ?? message, LOGGED_CHARS_MAX)
}

/** Checks by shape: an error of another realm (such as a `vm` context) is not an instance of this realm's Error. */
function isErrorLike(thrown: unknown): thrown is Error {
  return typeof thrown === 'object' && thrown !== null && typeof (thrown as Error).message === 'string'
}

/**
 * Returns the stack, with the stacks of the causes and of the first aggregated errors, because a message such as
 * "fetch failed" explains nothing without its cause. Each stack gets an equal share of the space, so that a long stack
 * does not cut off the causes after it.
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
