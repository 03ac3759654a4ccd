// The limits in a registration that steps share (docs/steps.md#limits-that-steps-share): reads and checks them, and decides
// which limits of the app change with it. Called by registration.ts.

import {
  DURATION_FORMS,
  parseDurationMs,
  type RegisterRequest,
  STEP_LIMIT_NAME_CHARS_MAX,
  STEP_LIMITS_MAX,
} from '@perdure/protocol'
import type { Change } from '../model/change.ts'
import { invalid } from '../model/errors.ts'
import type { RegisteredLimits, Runner, StepLimit } from '../model/workflow.ts'

/** Maximum period: turns are stored for this time. */
const PERIOD_MS_MAX = 30 * 24 * 3_600_000
const NAME = new RegExp(`^[A-Za-z0-9_.-]{1,${STEP_LIMIT_NAME_CHARS_MAX}}$`)

/** The limits of the registration, in the order of their names; undefined if it has none. */
export function stepLimitsOf({ limits = {} }: Pick<RegisterRequest, 'limits'>): RegisteredLimits | undefined {
  const names = Object.keys(limits).sort()
  if (names.length === 0) return undefined
  if (names.length > STEP_LIMITS_MAX)
    throw invalid('limits', `has ${names.length} limits: an app may have at most ${STEP_LIMITS_MAX}`)
  const read: Record<string, RegisteredLimits[string]> = {}
  for (const name of names) {
    const { limit, period } = limits[name] as NonNullable<RegisterRequest['limits']>[string]
    const field = `limits.${name}`
    if (!NAME.test(name))
      throw invalid(field, `must have a name of 1 to ${STEP_LIMIT_NAME_CHARS_MAX} letters, digits, _ . or -`)
    const ms = parseDurationMs(period)
    if (ms === undefined || ms < 1 || ms > PERIOD_MS_MAX)
      throw invalid(`${field}.period`, `must be a duration (${DURATION_FORMS}) of 1 ms to 30 days`)
    read[name] = { limit, periodMs: Math.ceil(ms) }
  }
  return read
}

/**
 * The newest registration of a limit counts; if a runner repeats its previous limit, that is a heartbeat. A limit is dropped
 * when no runner registers it any more. `others`: the other runners of the app that are not gone.
 */
export function stepLimitsChanged(
  { namespace, app, stepLimits = {}, lastSeenAt: at }: Runner,
  of: { earlier: Runner | undefined; others: readonly Runner[]; known: ReadonlyMap<string, StepLimit> | undefined },
): Change[] {
  const { earlier, others, known = new Map<string, StepLimit>() } = of
  const limits = Object.entries(stepLimits).flatMap(([name, { limit, periodMs }]) => {
    const present = known.get(name)
    const before = earlier?.stepLimits?.[name]
    if (present && before?.limit === limit && before.periodMs === periodMs) return []
    if (present?.limit === limit && present.periodMs === periodMs) return []
    return { namespace, app, name, limit, periodMs }
  })
  const registered = new Set([stepLimits, ...others.map(other => other.stepLimits ?? {})].flatMap(Object.keys))
  const dropped = [...known.keys()].filter(name => !registered.has(name))
  refuseTooMany(known.size - dropped.length + limits.filter(({ name }) => !known.has(name)).length)
  if (limits.length === 0 && dropped.length === 0) return []
  return [{ type: 'limits.registered', namespace, app, limits, dropped, at }]
}

function refuseTooMany(count: number): void {
  if (count > STEP_LIMITS_MAX)
    throw invalid(
      'limits',
      `together with the limits of its other runners the app would have ${count} limits: at most ${STEP_LIMITS_MAX} are allowed`,
    )
}
