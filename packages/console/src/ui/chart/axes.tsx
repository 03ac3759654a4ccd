// The axes of a chart over time: time labels below the plot, and value labels next to it. The table of the chart has the numbers
// for screen readers.

import { textIn } from '../../data/time/zone.ts'
import css from './chart.module.css'
import { timeTicks } from './scale.ts'

/** No label comes this close to the end, which has its own. */
const LAST_SHARE = 0.88
/** In a narrow chart no label comes after this part of the width. */
const LATE_SHARE = 0.68

/** `end`: where the last span ends. */
export function TimeAxis({ points, end }: { points: readonly { at: string }[]; end: string }) {
  const zonedMs = points.map(({ at }) => Date.parse(`${textIn(Date.parse(at)).replace(' ', 'T')}Z`))
  return (
    <div className={css.axis} aria-hidden="true">
      {timeTicks(zonedMs)
        .map(({ span, text }) => ({ text, share: span / points.length }))
        .filter(({ share }) => share <= LAST_SHARE)
        .map(({ share, text }) => (
          <span key={share} data-late={share > LATE_SHARE || undefined} style={{ left: `${100 * share}%` }}>
            {text}
          </span>
        ))}
      <span data-end="">{end}</span>
    </div>
  )
}

/** The labels of values: the top, the middle if it is a whole number, and zero. */
export function ValueAxis({
  top,
  textOf,
  side,
}: {
  top: number
  textOf(value: number): string
  side: 'left' | 'right'
}) {
  const values = [top, ...(Number.isInteger(top / 2) ? [top / 2] : []), 0]
  return (
    <div className={css.values} data-side={side} aria-hidden="true">
      {values.map(value => (
        <span key={value} style={{ top: `${100 * (1 - value / top)}%` }}>
          {textOf(value)}
        </span>
      ))}
    </div>
  )
}
