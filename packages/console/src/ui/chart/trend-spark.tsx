// Runs over time as small bars, the newest on the right. A mark below a bar shows that runs failed then: through its place, not
// only its colour.

import { countWords } from './count-spark.tsx'
import css from './run-spark.module.css'

const BAR_PX = 2
const GAP_PX = 1
const BARS_PX = 14
const MARK_PX = 3
/** One is still visible next to very many. */
const BAR_PX_MIN = 2

export interface RunTrend {
  started: readonly number[]
  failed: readonly number[]
}

export function TrendSpark({ started, failed }: RunTrend) {
  const most = Math.max(...started, 1)
  const heightOf = (count: number) => (count === 0 ? 1 : Math.max(BAR_PX_MIN, Math.round((BARS_PX * count) / most)))
  const text = trendWords({ started, failed })
  const width = BAR_PX + GAP_PX
  return (
    <svg
      role="img"
      aria-label={text}
      className={css.spark}
      width={started.length * width}
      height={BARS_PX + GAP_PX + MARK_PX}
    >
      <title>{text}</title>
      {started.map((count, i) => (
        <rect
          // biome-ignore lint/suspicious/noArrayIndexKey: the spans are places of the chart.
          key={i}
          data-status={count === 0 ? 'none' : 'started'}
          x={i * width}
          width={BAR_PX}
          y={BARS_PX - heightOf(count)}
          height={heightOf(count)}
        />
      ))}
      {failed.map(
        (count, i) =>
          count > 0 && (
            <rect
              // biome-ignore lint/suspicious/noArrayIndexKey: the spans are places of the chart.
              key={i}
              data-status="marked"
              x={i * width}
              width={width}
              y={BARS_PX + GAP_PX}
              height={MARK_PX}
            />
          ),
      )}
    </svg>
  )
}

/** Returns "12 runs in 3 of 24 intervals, most in interval 20; 2 failed, in 1 interval". */
export function trendWords({ started, failed }: RunTrend): string {
  const failures = failed.reduce((sum, count) => sum + count, 0)
  const spans = failed.filter(count => count > 0).length
  const where =
    failures === 0 ? 'none failed' : `${failures} failed, in ${spans} ${spans === 1 ? 'interval' : 'intervals'}`
  return `${countWords(started, 'runs')}; ${where}`
}
