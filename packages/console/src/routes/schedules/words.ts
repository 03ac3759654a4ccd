// Instants of a schedule that did not fire, and what happens to them, as text. Pure.

import type { ScheduleEntry } from '@perdure/protocol'

type Gap = Pick<NonNullable<ScheduleEntry['missed']>, 'count' | 'cause'>

/** The engine does not count beyond this. */
const COUNT_MAX = 1000

export function countWords({ count = 1 }: Gap): string {
  if (count === 1) return '1 run'
  return count < COUNT_MAX ? `${count} runs` : `${COUNT_MAX} runs or more`
}

/** Returns the cause, after a colon, or an empty string if the cause is not known. */
export function causeWords({ cause }: Gap): string {
  if (cause === 'no-engine') return ': no engine was running'
  return cause === 'suspended' ? ': the namespace was suspended' : ''
}

/** Which instants fire later if they passed while no engine could fire them. */
export const CATCH_UPS: Readonly<Record<NonNullable<ScheduleEntry['catchUp']>, string>> = {
  one: 'latest only',
  all: 'all, at most the oldest 999 and the latest',
  none: 'none over a minute late',
}
