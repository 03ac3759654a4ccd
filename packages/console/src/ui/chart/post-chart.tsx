// Posts over time: a stacked bar for each span of time, and the 95th percentile of durations as a line; or only the line, for a
// row of a table. A table has the same numbers for screen readers.

import { Bars } from './bars.tsx'
import css from './chart.module.css'
import { Chart, durationCell, longestOf, P95 } from './chart.tsx'
import { lineOf, niceMax } from './scale.ts'

export interface PostPoint {
  at: string
  succeeded: number
  failed: number
  p50Ms?: number | undefined
  p95Ms?: number | undefined
}

const KINDS = ['succeeded', 'failed'] as const
const COLUMNS = [
  ['Succeeded', ({ succeeded }: PostPoint) => succeeded],
  ['Failed', ({ failed }: PostPoint) => failed],
  ['p50', ({ p50Ms }: PostPoint) => durationCell(p50Ms)],
  ['p95', ({ p95Ms }: PostPoint) => durationCell(p95Ms)],
] as const

export function PostChart({ label, points, nowMs }: { label: string; points: readonly PostPoint[]; nowMs: number }) {
  const maxPosts = niceMax(Math.max(...points.map(({ succeeded, failed }) => succeeded + failed), 1))
  return (
    <Chart
      label={label}
      points={points}
      nowMs={nowMs}
      kinds={KINDS}
      lines={[P95]}
      top={maxPosts}
      most={`up to ${maxPosts} ${maxPosts === 1 ? 'delivery' : 'deliveries'}`}
      bars={<Bars points={points} kinds={KINDS} max={maxPosts} />}
      columns={COLUMNS}
    />
  )
}

const SPARK = { width: 72, height: 18 } as const

/** The line of durations, as an image with a name. */
export function Sparkline({ label, points }: { label: string; points: readonly PostPoint[] }) {
  return (
    <svg
      role="img"
      aria-label={label}
      width={SPARK.width}
      height={SPARK.height}
      viewBox={`0 0 ${Math.max(points.length, 1)} ${SPARK.height}`}
      preserveAspectRatio="none"
    >
      <path className={css.line} d={lineOf(points.map(P95.of), longestOf(points, [P95]), SPARK.height)} />
    </svg>
  )
}
