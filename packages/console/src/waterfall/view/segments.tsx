// The drawn part of a row: the segments of a bar, or the density strip of a fold, on the visible part of the axis.

import { cutText } from '@perdure/protocol/portable'
import type { CSSProperties } from 'react'
import { durationText } from '../../ui/duration.ts'
import { visibleText } from '../../ui/visible-text.ts'
import type { Fold } from '../folds.ts'
import type { Axis } from '../idle.ts'
import type { Bar, Segment, SegmentKind } from '../model.ts'
import { fractionOf, type Span } from '../scale.ts'
import css from './segments.module.css'

/** The axis and the part of it on which a bar is placed. */
export interface Track {
  axis: Axis
  span: Span
  /** Where open segments end: the end of the run, or now. */
  endMs: number
}

interface Place {
  left: string
  width: string
}

/** Returns a stretch in percent of the track, cut at the edges; undefined if it is outside them. */
export function placeOf({ axis, span }: Track, fromMs: number, toMs: number): Place | undefined {
  const left = fractionOf(axis.place(fromMs), span)
  const right = fractionOf(axis.place(toMs), span)
  if (right < 0 || left > 1) return undefined
  const from = Math.max(left, -0.01)
  return { left: `${from * 100}%`, width: `${(Math.min(right, 1.01) - from) * 100}%` }
}

/** A segment as it is drawn: an open backoff has the part up to now and the planned rest. */
type Drawn = Omit<Segment, 'kind'> & { kind: SegmentKind | 'planned' }

function drawnSegments({ segments }: Bar, nowMs: number): readonly Drawn[] {
  const last = segments.at(-1) as Segment
  const { kind, fromMs, toMs = nowMs } = last
  if (kind !== 'backoff' || toMs <= nowMs) return segments
  const atMs = Math.max(fromMs, nowMs)
  return [...segments.slice(0, -1), { ...last, toMs: atMs }, { ...last, kind: 'planned', fromMs: atMs }]
}

/** The segments of one bar, or a caret at the edge if the bar is outside. */
export function BarSegments({ bar, track }: { bar: Bar; track: Track }) {
  const segments = drawnSegments(bar, track.endMs)
  const places = segments.map(segment => placeOf(track, segment.fromMs, segment.toMs ?? track.endMs))
  if (places.every(place => place === undefined))
    return <EdgeCaret bar={bar} track={track} isPoint={segments[0]?.kind === 'point'} />
  return segments.map((segment, i) => {
    const place = places[i]
    return (
      place && (
        <span
          key={`${segment.kind}${segment.attempt}${segment.fromMs}`}
          className={css.segment}
          data-kind={segment.kind}
          data-status={bar.status}
          data-open={segment.toMs === undefined || undefined}
          data-carried={bar.carried || undefined}
          style={styleOf(segment.kind, place)}
          title={titleOf(segment, track.endMs)}
        />
      )
    )
  })
}

/** Minimum widths by kind, as in the styles: a notch, and one dot of a sleep. */
const WIDTH_PX_MIN: Readonly<Partial<Record<Drawn['kind'], number>>> = { failed: 10, sleep: 7 }

/**
 * Returns the style. A short segment at the end of the track is drawn completely there; a diamond is drawn completely at both
 * ends.
 */
function styleOf(kind: Drawn['kind'], { left, width }: Place): CSSProperties {
  if (kind === 'point') return { left: `clamp(7px, ${left}, 100% - 7px)` }
  return { left: `min(${left}, 100% - ${WIDTH_PX_MIN[kind] ?? 3}px)`, width }
}

function titleOf({ kind, attempt, fromMs, toMs, error }: Drawn, endMs: number): string {
  const took = durationText((toMs ?? Math.max(endMs, fromMs)) - fromMs)
  if (kind === 'planned') return `until the next attempt: ${took}`
  const head = kind === 'backoff' ? `backoff after attempt ${attempt}: ${took}` : `attempt ${attempt}: ${took}`
  return error === undefined ? head : `${head}\n${visibleText(cutText(error, 500))}`
}

interface CaretProps {
  bar: Pick<Bar, 'fromMs' | 'toMs'>
  track: Track
  /** A diamond takes no time. */
  isPoint?: boolean
}

/** Shows the duration of something outside the edge of the track. */
function EdgeCaret({ bar, track, isPoint = false }: CaretProps) {
  const toMs = bar.toMs ?? track.endMs
  const isBefore = track.axis.place(toMs) < track.span.fromMs
  const took = isPoint ? '' : durationText(toMs - bar.fromMs)
  return <span className={isBefore ? css.before : css.after}>{isBefore ? `◂ ${took}` : `${took} ▸`}</span>
}

/** Shows when the members of a fold started, as a strip of shades; parts with failures are marked. */
export function FoldStrip({ fold, track }: { fold: Fold; track: Track }) {
  const toMs = fold.toMs ?? track.endMs
  const place = placeOf(track, fold.fromMs, toMs)
  if (!place) return <EdgeCaret bar={fold} track={track} />
  const most = Math.max(...fold.density.map(({ count }) => count), 1)
  const partMs = (toMs - fold.fromMs) / fold.density.length
  return (
    <>
      <span className={css.fold} style={place} />
      {fold.density.map(({ count, failed }, i) => {
        const fromMs = fold.fromMs + i * partMs
        const part = count > 0 ? placeOf(track, fromMs, fromMs + partMs) : undefined
        return (
          part && (
            <span
              key={fromMs}
              className={css.part}
              data-failed={failed > 0 || undefined}
              style={{ ...part, opacity: 0.3 + 0.7 * (count / most) }}
            />
          )
        )
      })}
    </>
  )
}
