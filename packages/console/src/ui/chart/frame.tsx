// The parts that charts over time share: the frame with its legend and axis, the line of durations, and the table of the numbers
// for screen readers. Called by run-chart and post-chart.

import type { ReactNode } from 'react'
import { durationText } from '../duration.ts'
import { clockText } from '../time.ts'
import css from './chart.module.css'
import { lineOf, niceMax } from './scale.ts'

/** Height of the plot, in units of its drawing. */
export const PLOT_HEIGHT = 120

interface TimePoint {
  at: string
  p95Ms?: number | undefined
}

export interface ChartFrameProps<Point extends TimePoint> {
  /** The name of the table. */
  label: string
  points: readonly Point[]
  /** The engine's time, for labels of the axis. */
  nowMs: number
  /** The kinds of bars. */
  kinds: readonly string[]
  /** The top of the axis of bars: "50 runs". */
  most: string
  /** Further entries of the legend. */
  legend?: ReactNode
  /** The bars, drawn one unit wide for each point. */
  bars: ReactNode
  /** Parts over the plot. */
  over?: ReactNode
  /** Columns of the table behind the time: the head, and the text of a point. */
  columns: readonly (readonly [head: string, textOf: (point: Point) => string | number])[]
}

export function ChartFrame<Point extends TimePoint>(props: ChartFrameProps<Point>) {
  const { label, points, nowMs, kinds, most, legend, bars, over, columns } = props
  const maxMs = longestOf(points)
  return (
    <figure className={css.chart}>
      <figcaption className={css.legend}>
        {kinds.map(kind => (
          <span key={kind}>
            <i data-kind={kind} aria-hidden="true" /> {kind}
          </span>
        ))}
        <span>
          <i data-kind="p95" aria-hidden="true" /> p95, up to {durationText(maxMs)}
        </span>
        {legend}
        <span className={css.max}>up to {most}</span>
      </figcaption>
      <svg
        className={css.plot}
        viewBox={`0 0 ${Math.max(points.length, 1)} ${PLOT_HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {bars}
        <path className={css.line} d={lineOf(points, maxMs, PLOT_HEIGHT)} />
      </svg>
      {over}
      <div className={css.axis} aria-hidden="true">
        <span>{points[0] && clockText(Date.parse(points[0].at), nowMs)}</span>
        <span>now</span>
      </div>
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

/** The top of the axis of durations. */
export function longestOf(points: readonly TimePoint[]): number {
  return niceMax(Math.max(...points.map(({ p95Ms = 0 }) => p95Ms), 1))
}

/** A duration in a table; nothing where there is none. */
export function durationCell(ms: number | undefined): string {
  return ms === undefined ? '' : durationText(ms)
}
