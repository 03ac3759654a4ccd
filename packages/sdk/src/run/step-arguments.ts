// Checks the arguments of step calls, when the step is discovered. Each throws a NonRetriableError that names the step.

import { type Duration, NonRetriableError } from '@perdure/client'
import {
  DELAY_MS_MAX,
  DURATION_FORMS,
  type EventMatch,
  matchFault,
  NAME_CHARS_MAX,
  parseDurationMs,
  SIGNAL_NAME_CHARS_MAX,
  SIGNAL_NAME_PATTERN,
} from '@perdure/protocol'

/** The error of a call of this step with a bad argument. */
export function badCall(name: string, problem: string): NonRetriableError {
  return new NonRetriableError(`Step "${name}": ${problem}`)
}

export function condition(name: string, source: unknown): string | undefined {
  if (source === undefined || typeof source === 'string') return source
  throw badCall(name, `if must be a CEL expression in a string, not ${String(source)}`)
}

/** Checks the match of a wait: an older engine would not refuse a bad one, but wait for any event. */
export function eventMatch(name: string, match: EventMatch | undefined): EventMatch | undefined {
  const fault = match === undefined ? undefined : matchFault(match)
  if (fault !== undefined) throw badCall(name, `match ${fault}`)
  return match
}

/** Checks the name of one event, for waits and emits: `*` is a wildcard only in triggers. */
export function exactEvent(name: string, value: unknown): string {
  const event = nonBlank(name, 'event', value)
  if (!event.includes('*')) return event
  throw badCall(name, `event must be one name, and "${event}" has a *, which only triggers support`)
}

/** An ISO 8601 time with its zone; a date alone is midnight in UTC. Without a zone it would depend on the runner's machine. */
const ZONED = /(Z|UTC|GMT|[+-]\d{2}:?\d{2})\)?$|^[+-]?\d+-\d{2}-\d{2}$/i
/** Earlier times, before March 1973, are probably given in seconds. */
const EPOCH_MS_MIN = 1e11

export function timeMs(name: string, time: Date | number | string): number {
  const ms = typeof time === 'number' ? time : new Date(time).getTime()
  if (!Number.isFinite(ms)) throw badCall(name, `not a time: ${String(time)}`)
  if (typeof time === 'string' && !ZONED.test(time.trim())) {
    const fix = `"${time.trim()}Z", or an offset such as +02:00 at its end`
    throw badCall(name, `"${time}" has no time zone: write ${fix}`)
  }
  if (typeof time === 'number' && time > 1e9 && time < EPOCH_MS_MIN) {
    throw badCall(name, `${time} looks like seconds: a time as a number is in milliseconds since 1970`)
  }
  return ms
}

/** Returns the milliseconds of a duration. */
export function durationMs(name: string, duration: Duration): number {
  const ms = parseDurationMs(duration)
  if (ms !== undefined && ms <= DELAY_MS_MAX) return ms
  throw badCall(name, `not a duration: ${String(duration)} (${DURATION_FORMS}; at most 100 years)`)
}

/** A text of 1 to `charsMax` characters. */
export function boundedText(name: string, field: string, value: unknown, charsMax = NAME_CHARS_MAX): string {
  if (typeof value === 'string' && value !== '' && value.length <= charsMax) return value
  throw badCall(name, `${field} must be a string of 1 to ${charsMax} characters`)
}

export function nonBlank(name: string, field: string, value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= NAME_CHARS_MAX) return value
  throw badCall(name, `${field} must be a name of 1 to ${NAME_CHARS_MAX} characters`)
}

export function httpUrl(name: string, url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url
  throw badCall(name, `not an http or https URL: ${String(url)}`)
}

const SIGNAL_NAME = new RegExp(SIGNAL_NAME_PATTERN)

export function signalName(name: string, signal: unknown): string {
  if (typeof signal === 'string' && SIGNAL_NAME.test(signal)) return signal
  throw badCall(
    name,
    `signal must be 1 to ${SIGNAL_NAME_CHARS_MAX} letters, digits, _ . : / or -, not ${String(signal)}`,
  )
}

export function waitSince(name: string, since: unknown): 'run' | 'now' | undefined {
  if (since === undefined || since === 'run' || since === 'now') return since
  throw badCall(name, `since must be "run" or "now", not ${String(since)}`)
}
