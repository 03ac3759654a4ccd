// The durations that steps take as arguments. Called by the step tools.

import { type Duration, NonRetriableError } from '@perdure/client'
import { DELAY_MS_MAX, DURATION_FORMS, parseDurationMs } from '@perdure/protocol'

/** Returns the milliseconds of a duration. Throws a NonRetriableError that names the step. */
export function durationMs(name: string, duration: Duration): number {
  const ms = parseDurationMs(duration)
  if (ms === undefined || ms > DELAY_MS_MAX)
    throw new NonRetriableError(
      `Step "${name}": not a duration: ${String(duration)} (${DURATION_FORMS}; at most 100 years)`,
    )
  return ms
}
