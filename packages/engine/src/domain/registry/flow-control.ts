// Reads the flow-control policies of a registered workflow into the stored form: durations in ms, defaults filled in, every
// expression compiled once to check it (docs/flow-control.md). Called by registration.ts.

import {
  DELAY_MS_MAX,
  DURATION_FORMS,
  type FlowControlName,
  matchFault,
  parseDurationMs,
  type WorkflowRegistration,
} from '@perdure/protocol'
import { expressionFault, type Purpose } from '../expressions/expression.ts'
import { type EngineError, invalid } from '../model/errors.ts'
import type { FlowControl, Timeouts } from '../model/flow-control.ts'
import { isEngineEvent } from '../text/name.ts'

const IDEMPOTENCY_TTL_MS = 24 * 3_600_000
/** Maximum window of any policy: the state of a longer one would outlive the data that it is about. */
const WINDOW_MS_MAX = 30 * 24 * 3_600_000

/** One policy of a registration in its stored form; undefined if the registration does not have it. */
type ReadPolicy<P extends keyof FlowControl> = (
  registration: WorkflowRegistration,
  read: Reader,
) => FlowControl[P] | undefined

/** The reader of every policy; the type demands an entry for each. Policies are read, and errors reported, in this order. */
const POLICIES: { readonly [P in FlowControlName | keyof FlowControl]: ReadPolicy<P> } = {
  concurrency({ concurrency }, read) {
    const limits = [concurrency ?? []].flat()
    if (limits.length === 0) return undefined
    const field = (i: number) => (Array.isArray(concurrency) ? `concurrency[${i}]` : 'concurrency')
    return limits.map(({ limit, key, scope, hold }, i) => ({
      limit,
      ...read.key(field(i), key),
      scope: scope ?? 'workflow',
      ...(hold === 'run' ? { hold } : {}),
    }))
  },
  throttle({ throttle }, read) {
    if (!throttle) return undefined
    const { limit, period = throttle.periodMs, burst = 0, key } = throttle
    return { limit, periodMs: read.window('throttle.period', period), burst, ...read.key('throttle', key) }
  },
  rateLimit({ rateLimit }, read) {
    if (!rateLimit) return undefined
    const { limit, period, key } = rateLimit
    return { limit, periodMs: read.window('rateLimit.period', period), ...read.key('rateLimit', key) }
  },
  debounce({ debounce }, read) {
    if (!debounce) return undefined
    const { period, timeout, mode = 'last', key } = debounce
    const timeoutMs = timeout === undefined ? {} : { timeoutMs: read.window('debounce.timeout', timeout) }
    const periodMs = read.window('debounce.period', period)
    return { periodMs, ...timeoutMs, mode, ...read.key('debounce', key) }
  },
  batch({ batch, debounce }, read) {
    if (!batch) return undefined
    const { maxSize, timeout, key } = batch
    const timeoutMs = read.window('batch.timeout', timeout)
    const policy = { maxSize, timeoutMs, ...read.key('batch', key) }
    if (debounce) throw read.invalid('batch', 'cannot be combined with debounce')
    return policy
  },
  singleton({ singleton, batch, debounce }, read) {
    if (singleton?.mode === 'deliver' && (batch || debounce))
      throw read.invalid('singleton.mode', `deliver cannot be combined with ${batch ? 'batch' : 'debounce'}`)
    return singleton && { mode: singleton.mode, ...read.key('singleton', singleton.key) }
  },
  idempotency({ idempotency }, read) {
    if (!idempotency) return undefined
    const { ttl, key } = idempotency
    const ttlMs = ttl === undefined ? IDEMPOTENCY_TTL_MS : read.window('idempotency.ttl', ttl)
    return { key: read.expression('idempotency.key', key, 'key'), ttlMs }
  },
  priority({ priority }, read) {
    return priority === undefined ? undefined : read.expression('priority', priority, 'number')
  },
  fairness({ fairness }, read) {
    if (!fairness) return undefined
    const { key, weight } = fairness
    const share = weight === undefined ? {} : { weight: read.expression('fairness.weight', weight, 'number') }
    return { key: read.expression('fairness.key', key, 'key'), ...share }
  },
  timeouts({ timeouts }, read) {
    if (!timeouts) return undefined
    const { queue, run, invoke } = timeouts
    const deadlines: Timeouts = {}
    if (queue !== undefined) deadlines.queueMs = read.window('timeouts.queue', queue)
    if (run !== undefined) deadlines.runMs = read.window('timeouts.run', run)
    if (invoke !== undefined) deadlines.invokeMs = read.window('timeouts.invoke', invoke)
    return deadlines
  },
  cancelOn({ cancelOn }, read) {
    if (!cancelOn || cancelOn.length === 0) return undefined
    return cancelOn.map(({ event, if: condition, match, timeout }, i) => {
      const field = `cancelOn[${i}]`
      if (isEngineEvent(event)) throw read.invalid(`${field}.event`, 'must not be an event of the engine')
      const fault = match === undefined ? undefined : matchFault(match)
      if (fault !== undefined) throw read.invalid(`${field}.match`, fault)
      return {
        event,
        ...(condition === undefined
          ? {}
          : { if: read.expression(`${field}.if`, condition, 'condition', { inWait: true }) }),
        ...(match === undefined ? {} : { match }),
        ...(timeout === undefined ? {} : { timeoutMs: read.delay(`${field}.timeout`, timeout) }),
      }
    })
  },
}

/** The policies of a registration, or undefined if it has none. Throws `invalid_request` naming the field. */
export function flowControlOf(registration: WorkflowRegistration, field: string): FlowControl | undefined {
  const read = new Reader(field)
  const policies = Object.entries(POLICIES)
    .map(([name, readPolicy]) => [name, readPolicy(registration, read)] as const)
    .filter(([, policy]) => policy !== undefined)
  return policies.length === 0 ? undefined : (Object.fromEntries(policies) as FlowControl)
}

/** Returns the expression once it compiles. Throws `invalid_request` naming the field. */
export function checkedExpression(
  field: string,
  source: string,
  purpose: Purpose,
  options: { inWait?: boolean } = {},
): string {
  const fault = expressionFault(source, purpose, options)
  if (fault !== undefined) throw invalid(field, fault)
  return source
}

/** Reads members of one workflow's registration. Errors name the member below `field`, the path of the workflow. */
class Reader {
  readonly #field: string

  constructor(field: string) {
    this.#field = field
  }

  /** A positive duration, in ms. */
  window(name: string, duration: number | string | undefined): number {
    const ms = duration === undefined ? undefined : parseDurationMs(duration)
    if (ms === undefined || ms < 1) {
      throw this.invalid(name, 'must be a positive number of milliseconds or a duration such as "30s"')
    }
    if (ms > WINDOW_MS_MAX) throw this.invalid(name, 'must not be longer than 30 days')
    return Math.ceil(ms)
  }

  /** A duration over 0, in ms, up to the maximum of a sleep. */
  delay(name: string, duration: number | string): number {
    const ms = parseDurationMs(duration)
    if (ms === undefined || ms <= 0 || ms > DELAY_MS_MAX)
      throw this.invalid(name, `must be a duration (${DURATION_FORMS}) over 0, of at most 100 years`)
    return Math.ceil(ms)
  }

  key(policy: string, source: string | undefined): { key?: string } {
    return source === undefined ? {} : { key: this.expression(`${policy}.key`, source, 'key') }
  }

  expression(name: string, source: string, purpose: Purpose, options: { inWait?: boolean } = {}): string {
    return checkedExpression(`${this.#field}.${name}`, source, purpose, options)
  }

  invalid(name: string, problem: string): EngineError {
    return invalid(`${this.#field}.${name}`, problem)
  }
}
