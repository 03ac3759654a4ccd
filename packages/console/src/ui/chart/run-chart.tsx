// Runs over time: a stacked bar of ends for each span of time, a dash for the starts, and the 95th percentile of durations as a
// line. Bars differ by fill, not only by colour. A table has the same numbers for screen readers.

import { durationText } from '../duration.ts'
import { Bars } from './bars.tsx'
import { Brush, type SpanActions } from './brush.tsx'
import css from './chart.module.css'
import { Chart, durationCell, P95, PLOT_HEIGHT } from './chart.tsx'
import type { ChartMark } from './marks.tsx'
import { niceMax, placeOf } from './scale.ts'

export interface RunPoint {
  at: string
  started: number
  succeeded: number
  failed: number
  cancelled: number
  p95Ms?: number | undefined
}

const KINDS = ['succeeded', 'failed', 'cancelled'] as const
const COLUMNS = [
  ['Started', ({ started }: RunPoint) => started],
  ['Succeeded', ({ succeeded }: RunPoint) => succeeded],
  ['Failed', ({ failed }: RunPoint) => failed],
  ['Cancelled', ({ cancelled }: RunPoint) => cancelled],
  ['p95', ({ p95Ms }: RunPoint) => durationCell(p95Ms)],
] as const

export interface RunChartProps extends SpanActions {
  label: string
  points: readonly RunPoint[]
  /** The engine's time, for labels of the axis. */
  nowMs: number
  marks?: readonly ChartMark[]
  onMark?(mark: ChartMark): void
}

export function RunChart({ label, points, nowMs, marks, onMark, ...actions }: RunChartProps) {
  const maxRuns = niceMax(Math.max(...points.map(point => Math.max(point.started, endsOf(point))), 1))
  return (
    <Chart
      label={label}
      points={points}
      nowMs={nowMs}
      kinds={['started', ...KINDS]}
      lines={[P95]}
      top={maxRuns}
      most={`up to ${maxRuns} ${maxRuns === 1 ? 'run' : 'runs'}`}
      marks={marks}
      onMark={onMark}
      bars={
        <>
          <Bars points={points} kinds={KINDS} max={maxRuns} />
          <path className={css.starts} d={startsOf(points, maxRuns)} />
        </>
      }
      over={<Brush label={label} points={points} nowMs={nowMs} wordsOf={wordsOf} {...actions} />}
      columns={COLUMNS}
    />
  )
}

const endsOf = ({ succeeded, failed, cancelled }: RunPoint) => succeeded + failed + cancelled

/** Returns a dash over the bar of each span in which runs started, at the height of their number. */
function startsOf(points: readonly RunPoint[], max: number): string {
  return points
    .map(({ started }, i) => (started === 0 ? '' : `M${i + 0.1} ${placeOf(started, max, PLOT_HEIGHT).toFixed(1)}h0.8`))
    .join('')
}

function wordsOf(points: readonly RunPoint[]): string {
  const sum = (of: 'started' | (typeof KINDS)[number]) => points.reduce((all, point) => all + point[of], 0)
  // Percentiles of spans cannot be added.
  const p95Ms = points.length === 1 ? points[0]?.p95Ms : undefined
  const duration = p95Ms === undefined ? '' : `, p95 ${durationText(p95Ms)} ±9 %`
  return `${sum('started')} started, ${KINDS.map(kind => `${sum(kind)} ${kind}`).join(', ')}${duration}`
}
