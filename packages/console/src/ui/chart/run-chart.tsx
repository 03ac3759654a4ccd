// Runs over time: a stacked bar of ends for each span of time, a dash for the starts, and the 95th percentile of durations as a
// line. Bars differ by fill, not only by colour. A table has the same numbers for screen readers.

import { durationText } from '../duration.ts'
import { clockText } from '../time.ts'
import { Bars } from './bars.tsx'
import { Brush } from './brush.tsx'
import css from './chart.module.css'
import { Chart, durationCell, P95, PLOT_HEIGHT } from './chart.tsx'
import { type ChartMark, placedMarks, spanOf } from './marks.tsx'
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

export interface RunChartProps {
  label: string
  points: readonly RunPoint[]
  /** The engine's time, for labels of the axis. */
  nowMs: number
  /** Moments to mark, such as a change of the definition. */
  marks?: readonly ChartMark[]
  onMark?(mark: ChartMark): void
  /** The user chose a span of time: its beginning and its end. Without `onZoom` several may be chosen together. */
  onChoose?(fromMs: number, toMs: number): void
  /** The user chose several spans together. */
  onZoom?(fromMs: number, toMs: number): void
  /** The key `-` was pressed. */
  onZoomOut?(): void
}

export function RunChart({ label, points, nowMs, marks = [], onMark, onChoose, onZoom, onZoomOut }: RunChartProps) {
  const maxRuns = niceMax(Math.max(...points.map(point => Math.max(point.started, endsOf(point))), 1))
  const spanMs = spanOf(points)
  const startOf = (i: number) => Date.parse(points[i]?.at ?? '')
  const wordsOfSpan = (first: number, last: number) => {
    const from = clockText(startOf(first), nowMs)
    if (first === last) return `${from}: ${wordsOf(points[first] as RunPoint)}`
    return `${from} to ${clockText(startOf(last) + spanMs, nowMs)}: ${wordsOf(sumOf(points.slice(first, last + 1)))}`
  }
  return (
    <Chart
      label={label}
      points={points}
      nowMs={nowMs}
      kinds={['started', ...KINDS]}
      lines={[P95]}
      top={maxRuns}
      most={`up to ${maxRuns} ${maxRuns === 1 ? 'run' : 'runs'}`}
      marks={placedMarks(marks, { points, spanMs, nowMs })}
      onMark={onMark}
      bars={
        <>
          <Bars points={points} kinds={KINDS} max={maxRuns} />
          <path className={css.starts} d={startsOf(points, maxRuns)} />
        </>
      }
      over={
        onChoose ? (
          <Brush
            label={label}
            count={points.length}
            wordsOf={wordsOfSpan}
            onZoomOut={onZoomOut}
            onChoose={(first, last) =>
              (first === last ? onChoose : (onZoom ?? onChoose))(startOf(first), startOf(last) + spanMs)
            }
          />
        ) : (
          <div className={css.hits}>
            {points.map((point, i) => (
              <span key={point.at} title={wordsOfSpan(i, i)} />
            ))}
          </div>
        )
      }
      columns={COLUMNS}
    />
  )
}

const endsOf = ({ succeeded, failed, cancelled }: RunPoint) => succeeded + failed + cancelled

/** Returns the runs of several spans. Percentiles of spans cannot be added. */
function sumOf(points: readonly RunPoint[]): Omit<RunPoint, 'at'> {
  const sum = (of: 'started' | (typeof KINDS)[number]) => points.reduce((all, point) => all + point[of], 0)
  return { started: sum('started'), succeeded: sum('succeeded'), failed: sum('failed'), cancelled: sum('cancelled') }
}

/** Returns a dash over the bar of each span in which runs started, at the height of their number. */
function startsOf(points: readonly RunPoint[], max: number): string {
  return points
    .map(({ started }, i) => (started === 0 ? '' : `M${i + 0.1} ${placeOf(started, max, PLOT_HEIGHT).toFixed(1)}h0.8`))
    .join('')
}

function wordsOf({ started, succeeded, failed, cancelled, p95Ms }: Omit<RunPoint, 'at'>): string {
  const duration = p95Ms === undefined ? '' : `, p95 ${durationText(p95Ms)} ±9 %`
  return `${started} started, ${succeeded} succeeded, ${failed} failed, ${cancelled} cancelled${duration}`
}
