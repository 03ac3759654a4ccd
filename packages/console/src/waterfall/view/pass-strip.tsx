// The passes of a run between the axis and the rows: the wait before the first pass, then each pass from its sending to its
// answer.

import { cutText } from '@perdure/protocol/portable'
import { memo } from 'react'
import { durationText } from '../../ui/duration.ts'
import { visibleText } from '../../ui/visible-text.ts'
import { type PassMark, passMarks } from '../pass-marks.ts'
import type { PassSpan } from '../passes.ts'
import css from './pass-strip.module.css'
import { placeOf, type Track } from './segments.tsx'

/** The width of a mark and the gap next to it. */
const MARK_PX = 3

export interface PassStripProps {
  passes: readonly PassSpan[]
  track: Track
  /** The width of the track; 0 before it is known. */
  width: number
}

export const PassStrip = memo(function PassStrip({ passes, track, width }: PassStripProps) {
  const [first] = passes
  if (!first) return null
  const queued = first.fromMs > 0 ? placeOf(track, 0, first.fromMs) : undefined
  return (
    <div className={css.strip} aria-hidden="true">
      <div className={css.track}>
        {queued && (
          <span
            className={css.queued}
            style={queued}
            title={`queued for ${durationText(first.fromMs)} before the first pass`}
          />
        )}
        {passMarks(passes, { ...track, marksMax: Math.ceil(width / MARK_PX) }).map(mark => (
          <span
            key={mark.first}
            className={css.pass}
            data-failed={mark.failed > 0 || undefined}
            data-open={mark.toMs === undefined || undefined}
            style={placeOf(track, mark.fromMs, mark.toMs ?? track.endMs)}
            title={mark.first === mark.last ? titleOfOne(mark) : titleOfMany(mark)}
          />
        ))}
      </div>
    </div>
  )
})

const runnerText = ({ runner }: PassMark) => (runner === undefined ? '' : ` on ${visibleText(cutText(runner, 80))}`)

/** Returns "pass 2 on shop-1, sent at 1.2 s, answered after 40 ms". */
function titleOfOne(mark: PassMark): string {
  const { first, fromMs, toMs, failed } = mark
  const answer = toMs === undefined ? 'no answer yet' : `answered after ${durationText(toMs - fromMs)}`
  return `pass ${first}${runnerText(mark)}, sent at ${durationText(fromMs)}, ${answer}${failed > 0 ? ', failed' : ''}`
}

/** Returns "passes 12 to 40 on shop-1, from 1.2 s to 1.24 s, 1 failed". */
function titleOfMany(mark: PassMark): string {
  const { first, last, fromMs, toMs, failed } = mark
  const end = toMs === undefined ? 'now' : durationText(toMs)
  const tail = failed > 0 ? `, ${failed} failed` : ''
  return `passes ${first} to ${last}${runnerText(mark)}, from ${durationText(fromMs)} to ${end}${tail}`
}
