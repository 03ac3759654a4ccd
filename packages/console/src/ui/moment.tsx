// A moment relative to now: "4 s ago", exact on hover, and spelled out for a screen reader.

import { useClock } from '../data/time/clock.ts'
import { inWords } from './duration.ts'
import { agoText, exactTime, isMoment } from './time.ts'

/** Shows nothing if the moment is undefined. */
export function Moment({ at }: { at: string | undefined }) {
  const ms = at === undefined ? Number.NaN : Date.parse(at)
  const text = useClock(nowMs => (at === undefined ? '' : agoText(ms, nowMs)))
  if (at === undefined) return null
  return (
    <time dateTime={isMoment(ms) ? at : undefined} title={exactTime(ms)}>
      <span aria-hidden="true">{text}</span>
      <span className="visually-hidden">{inWords(text)}</span>
    </time>
  )
}
