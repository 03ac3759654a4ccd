// Stretches without execution, which the axis leaves out: a torn mark behind the rows, and its length over them.

import { durationText } from '../../ui/duration.ts'
import type { Cut } from '../idle.ts'
import { fractionOf, type Span } from '../scale.ts'
import css from './cuts.module.css'

/** A letter of a length needs this much space; with less space the length is written from top to bottom. */
const LETTER_PX = 7

function placeOf({ atMs, widthMs }: Cut, span: Span) {
  const left = fractionOf(atMs, span)
  const right = fractionOf(atMs + widthMs, span)
  if (right < 0 || left > 1) return undefined
  return { part: right - left, style: { left: `${left * 100}%`, width: `${(right - left) * 100}%` } }
}

const lengthOf = ({ fromMs, toMs }: Cut) => durationText(toMs - fromMs)

export function CutMark({ cut, span }: { cut: Cut; span: Span }) {
  const place = placeOf(cut, span)
  return place && <span className={css.cut} title={`${lengthOf(cut)} idle`} style={place.style} />
}

export interface CutLabelsProps {
  cuts: readonly Cut[]
  span: Span
  /** The width of the track. */
  width: number
}

export function CutLabels({ cuts, span, width }: CutLabelsProps) {
  return (
    <div className={css.labels} aria-hidden="true">
      {cuts.map(cut => {
        const place = placeOf(cut, span)
        return (
          place && (
            <span key={cut.fromMs} className={css.label} style={place.style}>
              <span data-upright={place.part * width < lengthOf(cut).length * LETTER_PX || undefined}>
                {lengthOf(cut)}
              </span>
            </span>
          )
        )
      })}
    </div>
  )
}
