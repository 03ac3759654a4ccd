// The parts that charts over time share: the plot with its legend, marks and axis, the lines of durations, and the table of the
// numbers for screen readers. Called by run-chart, duration-chart and post-chart.

import type { ReactNode } from 'react'
import { durationText } from '../duration.ts'
import { clockText } from '../time.ts'
import { TimeAxis, ValueAxis } from './axes.tsx'
import css from './chart.module.css'
import { type ChartMark, Marks, marksBySpan, placedMarks } from './marks.tsx'
import { axisCount, axisDuration, lineOf, niceMax } from './scale.ts'

/** Height of the plot, in the coordinates of its drawing. */
export const PLOT_HEIGHT = 120

/** Number of newest marks that the legend names; each mark also has its own title. */
const MARKS_NAMED = 2

interface TimePoint {
  at: string
}

/** A line of durations: its name in the legend, which also selects its style, and its value at a point. */
export interface ChartLine<Point> {
  kind: 'p50' | 'p95' | 'p99'
  of(point: Point): number | undefined
}

/** The line of charts that have only one. */
export const P95: ChartLine<{ p95Ms?: number | undefined }> = { kind: 'p95', of: ({ p95Ms }) => p95Ms }

export interface ChartProps<Point extends TimePoint> {
  /** The name of the table. */
  label: string
  points: readonly Point[]
  /** The engine's time, for labels of the axis. */
  nowMs: number
  /** The kinds of bars. */
  kinds: readonly string[]
  /** The top of the bar axis. Without bars, the left axis shows durations. */
  top?: number
  /** The top of the bar axis as text, such as "up to 50 runs", or another note. */
  most: string
  lines: readonly ChartLine<Point>[]
  /** Moments to mark, such as a change of the definition. */
  marks?: readonly ChartMark[] | undefined
  /** The user chose a mark. */
  onMark?: ((mark: ChartMark) => void) | undefined
  /** The bars, drawn 1 wide for each point. */
  bars: ReactNode
  /** Parts over the plot. */
  over?: ReactNode
  /** Columns of the table after the time: the head, and the text of a point. */
  columns: readonly (readonly [head: string, textOf: (point: Point) => string | number])[]
}

/** Returns where the last span ends: now, unless the window is in the past. */
function endText(points: readonly TimePoint[], nowMs: number): string {
  const [before, last] = points.slice(-2).map(({ at }) => Date.parse(at))
  if (before === undefined || last === undefined) return 'now'
  const endMs = last + (last - before)
  return endMs > nowMs ? 'now' : clockText(endMs, nowMs)
}

export function Chart<Point extends TimePoint>(props: ChartProps<Point>) {
  const { label, points, nowMs, kinds, top, most, lines, onMark, bars, over } = props
  const marks = placedMarks(props.marks ?? [], points, nowMs)
  const maxMs = longestOf(points, lines)
  const hasDurations = points.some(point => lines.some(({ of }) => of(point) !== undefined))
  const marked = marksBySpan(marks, points)
  const columns =
    marks.length === 0 ? props.columns : [...props.columns, ['Marks', ({ at }: Point) => marked.get(at) ?? ''] as const]
  return (
    <figure className={css.chart} data-axes={top !== undefined && hasDurations ? 'both' : 'left'}>
      <figcaption className={css.legend}>
        {kinds.map(kind => (
          <span key={kind}>
            <i data-kind={kind} aria-hidden="true" /> {kind}
          </span>
        ))}
        {lines.map(({ kind, of }) => (
          <span key={kind}>
            <i data-kind={kind} aria-hidden="true" /> {kind}
            {points.some(point => of(point) !== undefined) && `, up to ${durationText(maxMs)}`}
          </span>
        ))}
        {marks.slice(0, MARKS_NAMED).map(({ at, title }) => (
          <span key={at}>
            <i data-kind="mark" aria-hidden="true" /> {title}
          </span>
        ))}
        {marks.length > MARKS_NAMED && <span>{marks.length - MARKS_NAMED} more marks</span>}
        <span className={css.max}>{most}</span>
      </figcaption>
      <svg
        className={css.plot}
        viewBox={`0 0 ${Math.max(points.length, 1)} ${PLOT_HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <path className={css.grid} d={`M0 0H${points.length}M0 ${PLOT_HEIGHT / 2}H${points.length}`} />
        {bars}
        {lines.map(({ kind, of }) => (
          <path key={kind} className={css.line} data-kind={kind} d={lineOf(points.map(of), maxMs, PLOT_HEIGHT)} />
        ))}
      </svg>
      {over}
      <Marks marks={marks} {...(onMark && { onOpen: onMark })} />
      {top !== undefined && <ValueAxis side="left" top={top} textOf={axisCount} />}
      {hasDurations && <ValueAxis side={top === undefined ? 'left' : 'right'} top={maxMs} textOf={axisDuration} />}
      <TimeAxis points={points} end={endText(points, nowMs)} />
      <table className="visually-hidden">
        <caption>{label}</caption>
        <thead>
          <tr>
            {['At', ...columns.map(([head]) => head)].map(head => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {points.map(point => (
            <tr key={point.at}>
              <td>{point.at}</td>
              {columns.map(([head, textOf]) => (
                <td key={head}>{textOf(point)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}

/** Returns the top of the axis of durations. */
export function longestOf<Point>(points: readonly Point[], lines: readonly ChartLine<Point>[]): number {
  return niceMax(Math.max(...points.flatMap(point => lines.map(({ of }) => of(point) ?? 0)), 1))
}

/** Formats a duration for a table. Returns an empty string if there is none. */
export function durationCell(ms: number | undefined): string {
  return ms === undefined ? '' : durationText(ms)
}
