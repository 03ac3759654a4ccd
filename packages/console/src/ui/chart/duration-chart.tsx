// Durations over time, a line for each percentile. Lines differ by their dashes, not only by colour. A table has the same numbers
// for screen readers.

import { clockText } from '../time.ts'
import { Brush } from './brush.tsx'
import css from './chart.module.css'
import { Chart, type ChartLine, durationCell } from './chart.tsx'
import { type ChartMark, placedMarks, spanOf } from './marks.tsx'

/** The possible error of a percentile, because the counts are in classes. */
export const ERROR_TEXT = '±9 %'

export interface DurationChartProps<Point extends { at: string }> {
  label: string
  points: readonly Point[]
  lines: readonly ChartLine<Point>[]
  nowMs: number
  marks?: readonly ChartMark[]
  onMark?(mark: ChartMark): void
  /** The user chose a span of time: its beginning and its end. */
  onChoose?(fromMs: number, toMs: number): void
  /** The user chose several spans together. */
  onZoom?(fromMs: number, toMs: number): void
  onZoomOut?(): void
}

export function DurationChart<Point extends { at: string }>(props: DurationChartProps<Point>) {
  const { label, points, lines, nowMs, marks = [], onMark, onChoose, onZoom, onZoomOut } = props
  const spanMs = spanOf(points)
  const startOf = (i: number) => Date.parse(points[i]?.at ?? '')
  const wordsOfSpan = (first: number, last: number) => {
    const from = clockText(startOf(first), nowMs)
    if (first === last) return `${from}: ${wordsOf(points[first] as Point, lines)}`
    return `${from} to ${clockText(startOf(last) + spanMs, nowMs)}`
  }
  const isEmpty = !points.some(point => lines.some(({ of }) => of(point) !== undefined))
  return (
    <Chart
      label={label}
      points={points}
      nowMs={nowMs}
      kinds={[]}
      lines={lines}
      most={ERROR_TEXT}
      marks={placedMarks(marks, { points, spanMs, nowMs })}
      onMark={onMark}
      bars={null}
      over={
        isEmpty ? (
          <p className={css.nothing}>No runs ended in this window.</p>
        ) : onChoose && onZoom ? (
          <Brush
            label={label}
            count={points.length}
            wordsOf={wordsOfSpan}
            onZoomOut={onZoomOut}
            onChoose={(first, last) => (first === last ? onChoose : onZoom)(startOf(first), startOf(last) + spanMs)}
          />
        ) : (
          <div className={css.hits}>
            {points.map((point, i) => (
              <span key={point.at} title={wordsOfSpan(i, i)} />
            ))}
          </div>
        )
      }
      columns={lines.map(({ kind, of }) => [kind, (point: Point) => durationCell(of(point))] as const)}
    />
  )
}

function wordsOf<Point>(point: Point, lines: readonly ChartLine<Point>[]): string {
  const known = lines.flatMap(({ kind, of }) => (of(point) === undefined ? [] : `${kind} ${durationCell(of(point))}`))
  return known.length === 0 ? 'no runs ended' : `${known.join(', ')} ${ERROR_TEXT}`
}
