// The flow-control policies of a workflow, as the engine keeps them: durations in ms, defaults filled in, every
// expression known to compile (decisions, "Flow control at registration"). Made once, at registration.

import { parseDurationMs, type WorkflowRegistration } from '@perdure/protocol'
import { Expression, ExpressionError, type Purpose } from '../expressions/expression.ts'
import { invalid } from '../model/errors.ts'
import type { FlowControl, Timeouts } from '../model/flow-control.ts'

const IDEMPOTENCY_TTL_MS = 24 * 3_600_000
/** Longest window of any policy: beyond it the state would outlive the data it speaks of. */
const WINDOW_MS_MAX = 30 * 24 * 3_600_000

/** The policies of a registration, or undefined if it has none. Throws `invalid_request` naming the field. */
export function flowControlOf(registration: WorkflowRegistration, field: string): FlowControl | undefined {
  const read = new Reader(field)
  const flow: FlowControl = {}
  const { concurrency, throttle, rateLimit, debounce, batch, singleton } = registration
  const { idempotency, priority, timeouts, cancelOn } = registration
  const limits = [concurrency ?? []].flat()
  if (limits.length > 0) {
    const many = Array.isArray(concurrency)
    flow.concurrency = limits.map(({ limit, key, scope }, i) => ({
      limit,
      ...read.key(many ? `concurrency[${i}]` : 'concurrency', key),
      scope: scope ?? 'workflow',
    }))
  }
  if (throttle) {
    const { limit, period = throttle.periodMs, burst = 0, key } = throttle
    flow.throttle = {
      limit,
      periodMs: read.window('throttle.period', period),
      burst,
      ...read.key('throttle', key),
    }
  }
  if (rateLimit) {
    const { limit, period, key } = rateLimit
    flow.rateLimit = {
      limit,
      periodMs: read.window('rateLimit.period', period),
      ...read.key('rateLimit', key),
    }
  }
  if (debounce) {
    const { period, timeout, mode = 'last', key } = debounce
    const timeoutMs = timeout === undefined ? {} : { timeoutMs: read.window('debounce.timeout', timeout) }
    const periodMs = read.window('debounce.period', period)
    flow.debounce = { periodMs, ...timeoutMs, mode, ...read.key('debounce', key) }
  }
  if (batch) {
    const { maxSize, timeout, key } = batch
    flow.batch = { maxSize, timeoutMs: read.window('batch.timeout', timeout), ...read.key('batch', key) }
  }
  if (debounce && batch) throw invalid(`${field}.batch`, 'cannot be combined with debounce')
  if (singleton) flow.singleton = { mode: singleton.mode, ...read.key('singleton', singleton.key) }
  if (idempotency) {
    const ttlMs =
      idempotency.ttl === undefined ? IDEMPOTENCY_TTL_MS : read.window('idempotency.ttl', idempotency.ttl)
    flow.idempotency = { key: read.expression('idempotency.key', idempotency.key, 'key'), ttlMs }
  }
  if (priority !== undefined) flow.priority = read.expression('priority', priority, 'number')
  if (timeouts) {
    const deadlines: Timeouts = {}
    if (timeouts.queue !== undefined) deadlines.queueMs = read.window('timeouts.queue', timeouts.queue)
    if (timeouts.run !== undefined) deadlines.runMs = read.window('timeouts.run', timeouts.run)
    if (timeouts.invoke !== undefined) deadlines.invokeMs = read.window('timeouts.invoke', timeouts.invoke)
    flow.timeouts = deadlines
  }
  if (cancelOn && cancelOn.length > 0) {
    flow.cancelOn = cancelOn.map(({ event, if: condition }, i) =>
      condition === undefined
        ? { event }
        : { event, if: read.expression(`cancelOn[${i}].if`, condition, 'condition', true) },
    )
  }
  return Object.keys(flow).length === 0 ? undefined : flow
}

/** Checks that an expression compiles, and answers it. Throws `invalid_request` naming the field. */
export function checkedExpression(
  field: string,
  source: string,
  purpose: Purpose,
  options: { inWait?: boolean } = {},
): string {
  try {
    new Expression(source, purpose, options)
  } catch (error) {
    if (error instanceof ExpressionError) throw invalid(field, error.message)
    throw error
  }
  return source
}

/** Reads members below one field, and names them when they are wrong. */
class Reader {
  readonly #field: string

  constructor(field: string) {
    this.#field = field
  }

  /** A positive duration in ms. */
  window(name: string, duration: number | string | undefined): number {
    const ms = duration === undefined ? undefined : parseDurationMs(duration)
    const field = `${this.#field}.${name}`
    if (ms === undefined || ms < 1)
      throw invalid(field, 'must be a positive number of milliseconds or a duration such as "30s"')
    if (ms > WINDOW_MS_MAX) throw invalid(field, 'must not be longer than 30 days')
    return Math.ceil(ms)
  }

  key(policy: string, source: string | undefined): { key?: string } {
    return source === undefined ? {} : { key: this.expression(`${policy}.key`, source, 'key') }
  }

  expression(name: string, source: string, purpose: Purpose, inWait = false): string {
    return checkedExpression(`${this.#field}.${name}`, source, purpose, { inWait })
  }
}
