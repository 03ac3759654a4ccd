// Durations over time, a line for each percentile. Lines differ by their dashes, not only by colour. A table has the same numbers
// for screen readers.

import { Brush, type SpanActions } from './brush.tsx'
import css from './chart.module.css'
import { Chart, type ChartLine, durationCell } from './chart.tsx'
import type { ChartMark } from './marks.tsx'

/** The possible error of a percentile, because the counts are in classes. */
const ERROR_TEXT = '±9 %'

export interface DurationChartProps<Point extends { at: string }> extends SpanActions {
  label: string
  points: readonly Point[]
  lines: readonly ChartLine<Point>[]
  nowMs: number
  marks: readonly ChartMark[]
  onMark(mark: ChartMark): void
}

export function DurationChart<Point extends { at: string }>(props: DurationChartProps<Point>) {
  const { label, points, lines, nowMs, marks, onMark, ...actions } = props
  const isEmpty = !points.some(point => lines.some(({ of }) => of(point) !== undefined))
  return (
    <Chart
      label={label}
      points={points}
      nowMs={nowMs}
      kinds={[]}
      lines={lines}
      most={ERROR_TEXT}
      marks={marks}
      onMark={onMark}
      bars={null}
      over={
        isEmpty ? (
          <p className={css.nothing}>No runs ended in this window.</p>
        ) : (
          <Brush label={label} points={points} nowMs={nowMs} wordsOf={all => wordsOf(all, lines)} {...actions} />
        )
      }
      columns={lines.map(({ kind, of }) => [kind, (point: Point) => durationCell(of(point))] as const)}
    />
  )
}

/** Percentiles of several spans cannot be added. */
function wordsOf<Point>([point, ...more]: readonly Point[], lines: readonly ChartLine<Point>[]): string {
  if (point === undefined || more.length > 0) return ''
  const known = lines.flatMap(({ kind, of }) => (of(point) === undefined ? [] : `${kind} ${durationCell(of(point))}`))
  return known.length === 0 ? 'no runs ended' : `${known.join(', ')} ${ERROR_TEXT}`
}
