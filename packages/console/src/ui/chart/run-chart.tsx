// Runs over time: a stacked bar for each span of time, and the 95th percentile of durations as a line. Bars differ by fill, not
// by colour alone. A table with the same numbers is there for screen readers.

import { useId } from 'react'
import { durationText } from '../duration.ts'
import { clockText } from '../time.ts'
import css from './chart.module.css'
import { markPlace, niceMax, placeOf } from './scale.ts'

export interface RunPoint {
  at: string
  started: number
  succeeded: number
  failed: number
  cancelled: number
  p95Ms?: number | undefined
}

const HEIGHT = 120
const KINDS = ['succeeded', 'failed', 'cancelled'] as const

/** A moment to mark. */
export interface ChartMark {
  at: string
  /** The event of that moment: "the definition changed". */
  text: string
}

export interface RunChartProps {
  label: string
  points: readonly RunPoint[]
  /** The engine's time, for labels of the axis. */
  nowMs: number
  /** Moments to mark, such as a change of the definition. */
  marks?: readonly ChartMark[]
  /** A span of time was chosen: its beginning and its end. */
  onChoose?(fromMs: number, toMs: number): void
}

export function RunChart({ label, points, nowMs, marks = [], onChoose }: RunChartProps) {
  const hatch = useId()
  const maxRuns = niceMax(Math.max(...points.map(point => Math.max(point.started, endsOf(point))), 1))
  const maxMs = niceMax(Math.max(...points.map(({ p95Ms = 0 }) => p95Ms), 1))
  const spanMs = points.length > 1 ? Date.parse(points[1]?.at as string) - Date.parse(points[0]?.at as string) : 0
  const placed = marks.flatMap(mark => {
    const x = markPlace(Date.parse(mark.at), { points, spanMs })
    return x === undefined ? [] : [{ ...mark, x, title: `${mark.text}, ${clockText(Date.parse(mark.at), nowMs)}` }]
  })
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
        {placed.map(({ at, title }) => (
          <span key={at}>
            <i data-kind="mark" aria-hidden="true" /> {title}
          </span>
        ))}
        <span className={css.max}>up to {maxRuns} runs</span>
      </figcaption>
      <svg
        className={css.plot}
        viewBox={`0 0 ${Math.max(points.length, 1)} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {/* The plot is stretched in its width: stripes across it keep their form. */}
        <pattern id={hatch} width={1} height={4} patternUnits="userSpaceOnUse">
          <rect width={1} height={2.5} className={css.stripe} />
        </pattern>
        {points.map((point, i) => (
          <Bar key={point.at} point={point} x={i} scale={{ max: maxRuns, hatch }} />
        ))}
        <path className={css.line} d={lineOf(points, maxMs)} />
      </svg>
      <div className={css.marks} aria-hidden="true">
        {placed.map(({ at, x, title }) => (
          <span key={at} title={title} style={{ left: `${100 * x}%` }} />
        ))}
      </div>
      <div className={css.hits}>
        {points.map(point => {
          const from = Date.parse(point.at)
          const title = `${clockText(from, nowMs)}: ${wordsOf(point)}`
          return onChoose ? (
            <button
              key={point.at}
              type="button"
              title={title}
              aria-label={title}
              onClick={() => onChoose(from, from + spanMs)}
            />
          ) : (
            <span key={point.at} title={title} />
          )
        })}
      </div>
      <div className={css.axis} aria-hidden="true">
        <span>{points[0] && clockText(Date.parse(points[0].at), nowMs)}</span>
        <span>now</span>
      </div>
      <NumbersTable label={label} points={points} />
    </figure>
  )
}

const endsOf = ({ succeeded, failed, cancelled }: RunPoint) => succeeded + failed + cancelled

function wordsOf({ started, succeeded, failed, cancelled, p95Ms }: RunPoint): string {
  const duration = p95Ms === undefined ? '' : `, p95 ${durationText(p95Ms)} ±9 %`
  return `${started} started, ${succeeded} succeeded, ${failed} failed, ${cancelled} cancelled${duration}`
}

interface Scale {
  max: number
  /** Id of the pattern of failed runs. */
  hatch: string
}

function Bar({ point, x, scale: { max, hatch } }: { point: RunPoint; x: number; scale: Scale }) {
  let below = 0
  return KINDS.map(kind => {
    const runs = point[kind]
    if (runs === 0) return null
    below += runs
    const y = placeOf(below, max, HEIGHT)
    return (
      <rect
        key={kind}
        data-kind={kind}
        x={x + 0.1}
        width={0.8}
        y={y}
        height={HEIGHT - placeOf(runs, max, HEIGHT)}
        fill={kind === 'failed' ? `url(#${hatch})` : undefined}
      />
    )
  })
}

/** A line through the spans that have a percentile; a gap where there is none. */
function lineOf(points: readonly RunPoint[], max: number): string {
  let isDown = false
  return points
    .flatMap(({ p95Ms }, i) => {
      if (p95Ms === undefined) {
        isDown = false
        return []
      }
      const step = `${isDown ? 'L' : 'M'}${i + 0.5} ${placeOf(p95Ms, max, HEIGHT).toFixed(1)}`
      isDown = true
      return [step]
    })
    .join('')
}

function NumbersTable({ label, points }: { label: string; points: readonly RunPoint[] }) {
  return (
    <table className="visually-hidden">
      <caption>{label}</caption>
      <thead>
        <tr>
          {['At', 'Started', 'Succeeded', 'Failed', 'Cancelled', 'p95'].map(head => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {points.map(({ at, started, succeeded, failed, cancelled, p95Ms }) => (
          <tr key={at}>
            <td>{at}</td>
            <td>{started}</td>
            <td>{succeeded}</td>
            <td>{failed}</td>
            <td>{cancelled}</td>
            <td>{p95Ms === undefined ? '' : durationText(p95Ms)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
