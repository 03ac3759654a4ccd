// The spans of a chart as buttons over its plot. Pressing a button opens its span of time; dragging over several, or Shift with
// the arrows, chooses them together. Only one of them is a stop of the Tab key; the arrows move between them. Used by run-chart and
// duration-chart.

import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react'
import { clockText } from '../time.ts'
import css from './chart.module.css'
import { spanOf } from './marks.tsx'
import { movedSpan, type Span, spanAt, spanBounds } from './span.ts'

/** The actions of a user on the spans of a chart. */
export interface SpanActions {
  /** The user chose a span of time: its beginning and its end. */
  onChoose(fromMs: number, toMs: number): void
  /** The user chose several spans together. */
  onZoom(fromMs: number, toMs: number): void
  /** The key `-` was pressed. */
  onZoomOut(): void
}

interface BrushProps<Point> extends SpanActions {
  /** The name of the chart. */
  label: string
  points: readonly Point[]
  nowMs: number
  /** Returns a text for one span or for several together; an empty one if the times say all. */
  wordsOf(points: readonly Point[]): string
}

const HINT = 'Drag, or press Shift and an arrow key, to select several'

export function Brush<Point extends { at: string }>(props: BrushProps<Point>) {
  const { label, points, onChoose, onZoom, onZoomOut } = props
  const count = points.length
  const [span, setSpan] = useState<Span>()
  // The newest span gets the focus first.
  const [at, setAt] = useState(count - 1)
  const box = useRef<HTMLFieldSetElement>(null)
  const isDragging = useRef(false)
  const current = Math.min(span?.head ?? at, count - 1)
  const [first, last] = spanBounds(span ?? { anchor: current, head: current })
  const choose = (chosen: Span) => {
    setSpan(undefined)
    const [from, to] = spanBounds(chosen)
    const act = from === to ? onChoose : onZoom
    act(startOf(points, from), endOf(points, to))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && span) setSpan(undefined)
    else if (event.key === '-') onZoomOut()
    else {
      const next = movedSpan(span ?? { anchor: current, head: current }, event, count)
      if (!next) return
      setAt(next.head)
      setSpan(event.shiftKey ? next : undefined)
      box.current?.querySelectorAll('button')[next.head]?.focus()
    }
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <fieldset
      ref={box}
      className={css.hits}
      aria-label={`${label}: time range`}
      onKeyDown={onKeyDown}
      onPointerDown={event => {
        if (event.button !== 0) return
        event.currentTarget.setPointerCapture(event.pointerId)
        isDragging.current = true
        setSpan({ anchor: placeOf(event, count), head: placeOf(event, count) })
      }}
      onPointerMove={event => {
        if (isDragging.current && span) setSpan({ ...span, head: placeOf(event, count) })
      }}
      onPointerUp={event => {
        if (isDragging.current && span) choose({ ...span, head: placeOf(event, count) })
        isDragging.current = false
      }}
      onPointerCancel={() => {
        isDragging.current = false
        setSpan(undefined)
      }}
    >
      {Array.from({ length: count }, (_, i) => {
        const isChosen = span !== undefined && i >= first && i <= last
        const words = i === current && isChosen ? textOf(props, first, last) : textOf(props, i, i)
        return (
          <button
            // biome-ignore lint/suspicious/noArrayIndexKey: the spans are places of the chart.
            key={i}
            type="button"
            tabIndex={i === current ? 0 : -1}
            data-chosen={isChosen || undefined}
            title={`${words}\n${HINT}`}
            aria-label={words}
            onFocus={() => setAt(i)}
            // A click of the pointer has already chosen.
            onClick={({ detail }) => detail === 0 && choose(span ?? { anchor: i, head: i })}
          />
        )
      })}
      {span && first !== last && (
        <output className={css.chosen} style={{ left: `${(100 * first) / count}%` }}>
          {textOf(props, first, last)}
        </output>
      )}
    </fieldset>
  )
}

/** Returns the span under the pointer. */
function placeOf({ clientX, currentTarget }: PointerEvent<HTMLElement>, count: number): number {
  const { left, width } = currentTarget.getBoundingClientRect()
  return spanAt((clientX - left) / width, count)
}

type Times = readonly { at: string }[]

const startOf = (points: Times, i: number) => Date.parse(points[i]?.at ?? '')
const endOf = (points: Times, i: number) => startOf(points, i) + spanOf(points)

/** Returns a text for the spans from one to another, both included. */
function textOf<Point extends { at: string }>(props: BrushProps<Point>, first: number, last: number): string {
  const { points, nowMs, wordsOf } = props
  const from = clockText(startOf(points, first), nowMs)
  const times = first === last ? from : `${from} to ${clockText(endOf(points, last), nowMs)}`
  const words = wordsOf(points.slice(first, last + 1))
  return words === '' ? times : `${times}: ${words}`
}
