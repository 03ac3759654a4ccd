// Posts over time: a stacked bar for each span of time, and the 95th percentile of durations as a line; the same line alone, for a
// row of a table. A table with the same numbers is there for screen readers.

import { durationText } from '../duration.ts'
import { clockText } from '../time.ts'
import css from './chart.module.css'
import { niceMax, placeOf } from './scale.ts'

export interface PostPoint {
  at: string
  succeeded: number
  failed: number
  p50Ms?: number | undefined
  p95Ms?: number | undefined
}

const HEIGHT = 120
const KINDS = ['succeeded', 'failed'] as const

export function PostChart({ label, points, nowMs }: { label: string; points: readonly PostPoint[]; nowMs: number }) {
  const maxPosts = niceMax(Math.max(...points.map(({ succeeded, failed }) => succeeded + failed), 1))
  const maxMs = niceMax(Math.max(...points.map(({ p95Ms = 0 }) => p95Ms), 1))
  return (
    <figure className={css.chart}>
      <figcaption className={css.legend}>
        {KINDS.map(kind => (
          <span key={kind}>
            <i data-kind={kind} aria-hidden="true" /> {kind}
          </span>
        ))}
        <span>
          <i data-kind="p95" aria-hidden="true" /> p95, up to {durationText(maxMs)}
        </span>
        <span className={css.max}>up to {maxPosts} posts</span>
      </figcaption>
      <svg
        className={css.plot}
        viewBox={`0 0 ${Math.max(points.length, 1)} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {points.map((point, i) => (
          <Bar key={point.at} point={point} x={i} max={maxPosts} />
        ))}
        <path className={css.line} d={lineOf(points, maxMs, HEIGHT)} />
      </svg>
      <div className={css.axis} aria-hidden="true">
        <span>{points[0] && clockText(Date.parse(points[0].at), nowMs)}</span>
        <span>now</span>
      </div>
      <NumbersTable label={label} points={points} />
    </figure>
  )
}

const SPARK = { width: 72, height: 18 } as const

/** The line of durations, as an image with a name. */
export function Sparkline({ label, points }: { label: string; points: readonly PostPoint[] }) {
  const max = niceMax(Math.max(...points.map(({ p95Ms = 0 }) => p95Ms), 1))
  return (
    <svg
      role="img"
      aria-label={label}
      width={SPARK.width}
      height={SPARK.height}
      viewBox={`0 0 ${Math.max(points.length, 1)} ${SPARK.height}`}
      preserveAspectRatio="none"
    >
      <path className={css.line} d={lineOf(points, max, SPARK.height)} />
    </svg>
  )
}

function Bar({ point, x, max }: { point: PostPoint; x: number; max: number }) {
  let below = 0
  return KINDS.map(kind => {
    const posts = point[kind]
    if (posts === 0) return null
    below += posts
    const y = placeOf(below, max, HEIGHT)
    const height = HEIGHT - placeOf(posts, max, HEIGHT)
    return <rect key={kind} data-kind={kind} x={x + 0.1} width={0.8} y={y} height={height} />
  })
}

/** A dash for each span that has a percentile, joined with its neighbours; a gap where there is none. */
function lineOf(points: readonly PostPoint[], max: number, height: number): string {
  return points
    .map(({ p95Ms }, i) => {
      if (p95Ms === undefined) return ''
      const y = placeOf(p95Ms, max, height).toFixed(1)
      const start = points[i - 1]?.p95Ms === undefined ? `M${i} ${y}` : `L${i} ${y}`
      return `${start}L${i + 1} ${y}`
    })
    .join('')
}

function NumbersTable({ label, points }: { label: string; points: readonly PostPoint[] }) {
  const text = (ms: number | undefined) => (ms === undefined ? '' : durationText(ms))
  return (
    <table className="visually-hidden">
      <caption>{label}</caption>
      <thead>
        <tr>
          {['At', 'Succeeded', 'Failed', 'p50', 'p95'].map(head => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {points.map(({ at, succeeded, failed, p50Ms, p95Ms }) => (
          <tr key={at}>
            <td>{at}</td>
            <td>{succeeded}</td>
            <td>{failed}</td>
            <td>{text(p50Ms)}</td>
            <td>{text(p95Ms)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
