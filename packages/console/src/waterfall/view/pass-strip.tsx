// The passes of a run between the axis and the rows: the wait before the first one, then each from its sending to its answer.

import { memo } from 'react'
import { durationText } from '../../ui/duration.ts'
import { visibleText } from '../../ui/visible-text.ts'
import type { PassSpan } from '../passes.ts'
import css from './pass-strip.module.css'
import { placeOf, type Track } from './segments.tsx'

/** Passes that are drawn at most. */
const PASSES_MAX = 400

export const PassStrip = memo(function PassStrip({ passes, track }: { passes: readonly PassSpan[]; track: Track }) {
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
        {shownOf(passes, track).map(({ pass, place, number }) => (
          <span
            key={number}
            className={css.pass}
            data-failed={pass.hasFailed || undefined}
            data-open={pass.toMs === undefined || undefined}
            style={place}
            title={titleOf(pass, number)}
          />
        ))}
      </div>
    </div>
  )
})

function shownOf(passes: readonly PassSpan[], track: Track) {
  return passes
    .flatMap((pass, i) => {
      const place = placeOf(track, pass.fromMs, pass.toMs ?? track.endMs)
      return place === undefined ? [] : [{ pass, place, number: i + 1 }]
    })
    .slice(0, PASSES_MAX)
}

/** "pass 2 on shop-1, sent at 1.2 s, answered after 40 ms". */
export function titleOf({ fromMs, toMs, runner, hasFailed }: PassSpan, number: number): string {
  const by = runner === undefined ? '' : ` on ${visibleText(runner.slice(0, 80))}`
  const answer = toMs === undefined ? 'no answer yet' : `answered after ${durationText(toMs - fromMs)}`
  return `pass ${number}${by}, sent at ${durationText(fromMs)}, ${answer}${hasFailed ? ', failed' : ''}`
}
