// The spans of a chart as buttons over its plot. Pressing a button opens its span of time; dragging over several, or Shift with
// the arrows, chooses them together. Only one of them is a stop of the Tab key; the arrows move between them. Used by run-chart.

import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react'
import css from './chart.module.css'
import { movedSpan, type Span, spanAt, spanBounds } from './span.ts'

export interface BrushProps {
  /** The name of the chart. */
  label: string
  /** The number of spans. */
  count: number
  /** Returns a text for the spans from one to another, both included. */
  wordsOf(first: number, last: number): string
  onChoose(first: number, last: number): void
  /** The key `-` was pressed. */
  onZoomOut?: (() => void) | undefined
}

const HINT = 'Drag, or press Shift and an arrow key, to select several'

export function Brush({ label, count, wordsOf, onChoose, onZoomOut }: BrushProps) {
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
    onChoose(from, to)
  }
  const placeOf = ({ clientX, currentTarget }: PointerEvent<HTMLElement>) => {
    const { left, width } = currentTarget.getBoundingClientRect()
    return spanAt((clientX - left) / width, count)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && span) setSpan(undefined)
    else if (event.key === '-' && onZoomOut) onZoomOut()
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
        setSpan({ anchor: placeOf(event), head: placeOf(event) })
      }}
      onPointerMove={event => {
        if (isDragging.current && span) setSpan({ ...span, head: placeOf(event) })
      }}
      onPointerUp={event => {
        if (isDragging.current && span) choose({ ...span, head: placeOf(event) })
        isDragging.current = false
      }}
      onPointerCancel={() => {
        isDragging.current = false
        setSpan(undefined)
      }}
    >
      {Array.from({ length: count }, (_, i) => {
        const isChosen = span !== undefined && i >= first && i <= last
        const words = i === current && isChosen ? wordsOf(first, last) : wordsOf(i, i)
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
          {wordsOf(first, last)}
        </output>
      )}
    </fieldset>
  )
}
