// A moment as time that passes: "4 s ago", exact on hover.

import { useNow } from '../data/time/clock.ts'
import { agoText, exactTime, isMoment } from './time.ts'

/** Nothing for a moment that never was. */
export function Moment({ at }: { at: string | undefined }) {
  const now = useNow()
  if (at === undefined) return null
  const ms = Date.parse(at)
  return (
    <time dateTime={isMoment(ms) ? at : undefined} title={exactTime(ms)}>
      {agoText(ms, now)}
    </time>
  )
}
