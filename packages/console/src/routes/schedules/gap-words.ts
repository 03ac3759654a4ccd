// Instants of a schedule that did not fire, in words. Pure.

import type { ScheduleEntry } from '@perdure/protocol'

type Gap = Pick<NonNullable<ScheduleEntry['missed']>, 'count' | 'cause'>

/** The engine counts no further. */
const COUNT_MAX = 1000

export function countWords({ count = 1 }: Gap): string {
  if (count === 1) return '1 run'
  return count < COUNT_MAX ? `${count} runs` : `${COUNT_MAX} runs or more`
}

/** Begins with a colon; empty where the cause is not known. */
export function causeWords({ cause }: Gap): string {
  if (cause === 'no-engine') return ': no engine was running'
  return cause === 'suspended' ? ': the namespace was suspended' : ''
}
