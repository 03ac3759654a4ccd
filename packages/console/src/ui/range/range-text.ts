// The texts of a time range, for its button and its fields. They only depend on the chosen time zone.

import { startOf } from '../../data/time/window.ts'
import { textIn } from '../../data/time/zone.ts'

/** Ranges up to now, by the `since` of the URL; only yesterday has an end. */
export const PRESETS: readonly { label: string; since: string; until?: string }[] = [
  { label: '15 minutes', since: '15m' },
  { label: '1 hour', since: '1h' },
  { label: '24 hours', since: '24h' },
  { label: '7 days', since: '7d' },
  { label: '30 days', since: '30d' },
  { label: 'Today', since: 'today' },
  { label: 'Yesterday', since: 'yesterday', until: 'today' },
]

/** Returns the value of a `datetime-local` field for a time of the URL: with seconds if it has any. Empty if there is none. */
export function fieldText(value: string | undefined, nowMs: number): string {
  const atMs = value === undefined ? undefined : startOf(value, nowMs)
  if (atMs === undefined) return ''
  return textIn(atMs).slice(0, 19).replace(' ', 'T').replace(/:00$/, '')
}

/** Returns why a range is invalid: a field is not a time, or the end is not after the start. */
export function rangeFault(since: string | undefined, until: string | undefined, nowMs: number): string | undefined {
  const [from, to = nowMs] = [since, until].map(value => (value === undefined ? undefined : startOf(value, nowMs)))
  if (since !== undefined && from === undefined) return 'From is not a time'
  if (from !== undefined && until !== undefined && from >= to) return 'From must be before To'
  if (from !== undefined && from > nowMs) return 'From must be in the past'
  return undefined
}
