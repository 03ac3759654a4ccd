// Past runs as small bars, the newest on the right: the height is the duration, the form the status.

import { durationText } from '../duration.ts'
import css from './run-spark.module.css'

export interface SparkRun {
  id: string
  status: string
  durationMs?: number | undefined
}

const BAR_PX = 3
const GAP_PX = 1
const HEIGHT_PX = 18
/** The shortest run is still visible. */
const BAR_PX_MIN = 4

/** `runs`: the newest first. */
export function RunSpark({ runs, slots }: { runs: readonly SparkRun[]; slots: number }) {
  const longMs = Math.max(...runs.map(({ durationMs = 0 }) => durationMs), 1)
  const heightOf = ({ durationMs = 0 }: SparkRun) =>
    BAR_PX_MIN + Math.round((HEIGHT_PX - BAR_PX_MIN) * Math.min(1, durationMs / longMs))
  const text = sparkWords(runs)
  return (
    <svg role="img" aria-label={text} className={css.spark} width={slots * (BAR_PX + GAP_PX)} height={HEIGHT_PX}>
      <title>{text}</title>
      {runs.map((run, i) => (
        <rect
          key={run.id}
          data-status={run.status}
          x={(slots - 1 - i) * (BAR_PX + GAP_PX)}
          width={BAR_PX}
          y={HEIGHT_PX - heightOf(run)}
          height={heightOf(run)}
        />
      ))}
    </svg>
  )
}

/** Returns "12 runs: 11 succeeded, 1 failed; the longest took 3 s". */
export function sparkWords(runs: readonly SparkRun[]): string {
  const counts = new Map<string, number>()
  for (const { status } of runs) counts.set(status, (counts.get(status) ?? 0) + 1)
  const parts = [...counts].map(([status, count]) => `${count} ${status}`).join(', ')
  const longMs = Math.max(...runs.map(({ durationMs = 0 }) => durationMs), 0)
  const longest = longMs > 0 ? `; the longest took ${durationText(longMs)}` : ''
  return `${runs.length} ${runs.length === 1 ? 'run' : 'runs'}: ${parts}${longest}`
}
