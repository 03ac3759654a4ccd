// biome-ignore-all lint/a11y/useSemanticElements: only the rows on the screen are in the document, so this is no table.
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus and names its active row.

// The waterfall: the axis, and the rows of a run that are on the screen. It only draws; the page owns zoom, selection and folds,
// and keeps them in the URL.

import { type MouseEvent, memo, type PointerEvent, useEffect, useMemo, useRef, useState } from 'react'
import { durationText } from '../../ui/duration.ts'
import type { Row } from '../folds.ts'
import type { Axis } from '../idle.ts'
import { passMarks } from '../pass-marks.ts'
import type { PassSpan } from '../passes.ts'
import { fractionOf, pan, type Span, ticksOf, zoomAt } from '../scale.ts'
import { CutLabels, CutMark } from './cuts.tsx'
import { PassStrip } from './pass-strip.tsx'
import { ROW_PX, RowView } from './row.tsx'
import type { Track } from './segments.tsx'
import { useWidth } from './use-width.ts'
import { useWindow } from './use-window.ts'
import css from './waterfall.module.css'

export interface WaterfallProps {
  rows: readonly Row[]
  /** Minimum height, as a number of rows. */
  rowsMin: number
  axis: Axis
  span: Span
  /** Where open segments end. */
  endMs: number
  /** The drawn moment, if it is not now. */
  momentMs?: number | undefined
  passes: readonly PassSpan[]
  selected: string | undefined
  /** Ids of the steps on the critical path, if it is shown. */
  critical?: ReadonlySet<string> | undefined
  label: string
  onSelect(key: string): void
  onToggle(key: string): void
  onZoom(key: string): void
  onSpan(span: Span): void
}

/** Space for the label of a mark. */
const TICK_PX = 90
/** Number of short labels that fit on a phone. */
const TICKS_MIN = 3
/** Maximum height. Beyond it the rows scroll. */
const HEIGHT_MAX = '62vh'
/** Minimum distance between two lines of passes. */
const LINE_PX = 6
/** Maximum number of frames until a row that was scrolled to is drawn. */
const REVEAL_FRAMES_MAX = 60

export function Waterfall(props: WaterfallProps) {
  const { rows, axis, span, endMs, selected, critical, onSelect, onToggle, onZoom } = props
  const scroller = useRef<HTMLDivElement>(null)
  const { first, end, reveal } = useWindow(scroller, rows.length, ROW_PX)
  const track = useMemo(() => ({ axis, span, endMs }), [axis, span, endMs])
  const ticks = useRef<HTMLDivElement>(null)
  const width = useWidth(ticks)
  const place = useMemo(() => rows.findIndex(({ key }) => key === selected), [rows, selected])
  useEffect(() => {
    reveal(place)
    // The page may have to scroll as well. A distant row is in the document some frames later.
    let frames = place < 0 ? 0 : REVEAL_FRAMES_MAX
    let frame = 0
    const show = () => {
      const row = document.getElementById(rowId(place))
      if (row) row.scrollIntoView({ block: 'nearest' })
      else if (frames-- > 0) frame = requestAnimationFrame(show)
    }
    frame = requestAnimationFrame(show)
    return () => cancelAnimationFrame(frame)
  }, [place, reveal])
  useZoomReveal({ rows, track, first, end, reveal })
  const pointer = usePointer(scroller, props)
  return (
    <div className={css.waterfall} {...pointer}>
      <AxisView axis={axis} span={span} box={ticks} width={width} />
      <PassStrip passes={props.passes} track={track} width={width} />
      <div
        ref={scroller}
        role="treegrid"
        aria-label={props.label}
        aria-rowcount={rows.length + 1}
        aria-activedescendant={place >= first && place < end ? rowId(place) : undefined}
        tabIndex={0}
        className={css.scroller}
        style={{ minHeight: `min(${props.rowsMin * ROW_PX}px, ${HEIGHT_MAX})`, maxHeight: HEIGHT_MAX }}
      >
        <div role="row" aria-rowindex={1} className="visually-hidden">
          <span role="columnheader">Step</span>
          <span role="columnheader">Time</span>
          <span role="columnheader">Duration</span>
        </div>
        <div role="presentation" className={css.rows} style={{ height: `${rows.length * ROW_PX}px` }}>
          <Lines track={track} width={width} passes={props.passes} momentMs={props.momentMs} />
          {rows.slice(first, end).map((row, i) => (
            <RowView
              key={row.key}
              id={rowId(first + i)}
              row={row}
              place={first + i}
              track={track}
              isSelected={row.key === selected}
              isCritical={
                critical && row.kind === 'bar' && row.runId === undefined ? critical.has(row.bar.id) : undefined
              }
              onSelect={onSelect}
              onToggle={onToggle}
              onZoom={onZoom}
            />
          ))}
          {axis.cuts.length > 0 && <CutLabels cuts={axis.cuts} span={span} width={width} />}
        </div>
      </div>
    </div>
  )
}

interface Shown {
  rows: readonly Row[]
  track: Track
  first: number
  end: number
  reveal(place: number): void
}

/** After a zoom that leaves no bar on the screen, scrolls to the first row that has one. Moving the axis does not scroll. */
function useZoomReveal({ rows, track, first, end, reveal }: Shown): void {
  const width = track.span.toMs - track.span.fromMs
  const zoomed = useRef(width)
  useEffect(() => {
    if (Math.abs(zoomed.current - width) < 1e-6) return
    zoomed.current = width
    const isShown = (row: Row) => {
      const { fromMs, toMs = track.endMs } = row.kind === 'bar' ? row.bar : row.fold
      return track.axis.place(toMs) >= track.span.fromMs && track.axis.place(fromMs) <= track.span.toMs
    }
    if (!rows.slice(first, end).some(isShown)) reveal(rows.findIndex(isShown))
  }, [width, rows, track, first, end, reveal])
}

const rowId = (place: number) => `step-row-${place}`

interface AxisProps {
  axis: Axis
  span: Span
  /** The element that is as wide as the track. */
  box: React.RefObject<HTMLDivElement | null>
  width: number
}

const AxisView = memo(function AxisView({ axis, span, box, width }: AxisProps) {
  const marks =
    axis.cuts.length > 0 ? cutTicks(axis, span) : ticksOf(span, Math.max(TICKS_MIN, Math.floor(width / TICK_PX)))
  // A label that does not fit before the end is left out.
  const shown = marks.filter(({ ms }) => (1 - fractionOf(ms, span)) * width > TICK_PX / 2)
  return (
    <div className={css.axis} aria-hidden="true">
      <div ref={box} className={css.ticks}>
        {shown.map(({ ms, label }) => (
          <span key={ms} className={css.tick} style={{ left: `${fractionOf(ms, span) * 100}%` }}>
            {label}
          </span>
        ))}
      </div>
    </div>
  )
})

/** Returns the marks of an axis with cuts: where the stretches between them begin, in real time. */
function cutTicks(axis: Axis, span: Span) {
  const starts = [0, ...axis.cuts.map(({ toMs }) => toMs)]
  return starts
    .map(ms => ({ ms: axis.place(ms), label: ms === 0 ? '0' : durationText(ms) }))
    .filter(({ ms }) => ms >= span.fromMs && ms <= span.toMs)
}

type LinesProps = Pick<WaterfallProps, 'passes' | 'momentMs'> & { track: Track; width: number }

/** The lines behind the rows: sent passes, and stretches that were cut out. */
const Lines = memo(function Lines({ track, width, passes, momentMs }: LinesProps) {
  const { axis, span } = track
  const shown = passMarks(passes, { ...track, marksMax: Math.ceil(width / LINE_PX) })
  return (
    <div className={css.lines} data-lines aria-hidden="true">
      {shown.map(({ first, fromMs }) => (
        <span key={first} className={css.pass} style={{ left: `${fractionOf(axis.place(fromMs), span) * 100}%` }} />
      ))}
      {momentMs !== undefined && (
        <span className={css.moment} style={{ left: `${fractionOf(axis.place(momentMs), span) * 100}%` }} />
      )}
      {axis.cuts.map(cut => (
        <CutMark key={cut.fromMs} cut={cut} span={span} />
      ))}
    </div>
  )
})

/** Handles the pointer: the wheel with the command key zooms at the pointer's position, dragging the track moves it. */
function usePointer(scroller: React.RefObject<HTMLDivElement | null>, { axis, span, onSpan }: WaterfallProps) {
  const drag = useRef<{ x: number; span: Span } | undefined>(undefined)
  const hasDragged = useRef(false)
  const [isDragging, setIsDragging] = useState(false)
  const latest = useRef({ axis, span, onSpan })
  latest.current = { axis, span, onSpan }
  const trackOf = () => {
    const rect = scroller.current?.querySelector('[data-lines]')?.getBoundingClientRect()
    return rect && rect.width > 0 ? rect : undefined
  }
  useEffect(() => {
    const element = scroller.current
    if (!element) return
    const zoom = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return
      event.preventDefault()
      const rect = trackOf()
      if (!rect) return
      const { axis, span, onSpan } = latest.current
      const at = Math.min(Math.max((event.clientX - rect.left) / rect.width, 0), 1)
      onSpan(zoomAt(span, Math.exp(event.deltaY / 300), at, axis.all))
    }
    element.addEventListener('wheel', zoom, { passive: false })
    return () => element.removeEventListener('wheel', zoom)
  })
  return {
    'data-dragging': isDragging || undefined,
    onPointerDown(event: PointerEvent) {
      const rect = trackOf()
      if (event.button !== 0 || event.pointerType === 'touch' || !rect || event.clientX < rect.left) return
      drag.current = { x: event.clientX, span }
      hasDragged.current = false
    },
    onPointerMove(event: PointerEvent) {
      const rect = trackOf()
      if (!drag.current || !rect) return
      const part = (drag.current.x - event.clientX) / rect.width
      if (Math.abs(part) < 0.004 && !isDragging) return
      hasDragged.current = true
      setIsDragging(true)
      onSpan(pan(drag.current.span, part, axis.all))
    },
    onPointerUp() {
      drag.current = undefined
      setIsDragging(false)
    },
    // The click that ends a drag selects nothing.
    onClickCapture(event: MouseEvent) {
      if (hasDragged.current) event.stopPropagation()
      hasDragged.current = false
    },
    onPointerLeave() {
      drag.current = undefined
      setIsDragging(false)
    },
  }
}
