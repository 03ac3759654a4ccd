// Counts over time as small bars, the newest on the right.

import css from './run-spark.module.css'

const BAR_PX = 3
const GAP_PX = 1
const HEIGHT_PX = 18
/** One is still visible next to very many. */
const BAR_PX_MIN = 3

/** `what`: the plural of the counted thing. */
export function CountSpark({ counts, what }: { counts: readonly number[]; what: string }) {
  const most = Math.max(...counts, 1)
  const heightOf = (count: number) => (count === 0 ? 1 : Math.max(BAR_PX_MIN, Math.round((HEIGHT_PX * count) / most)))
  const text = countWords(counts, what)
  return (
    <svg
      role="img"
      aria-label={text}
      className={css.spark}
      width={counts.length * (BAR_PX + GAP_PX)}
      height={HEIGHT_PX}
    >
      <title>{text}</title>
      {counts.map((count, i) => (
        <rect
          // biome-ignore lint/suspicious/noArrayIndexKey: the spans are places of the chart.
          key={i}
          data-status={count === 0 ? 'none' : 'marked'}
          x={i * (BAR_PX + GAP_PX)}
          width={BAR_PX}
          y={HEIGHT_PX - heightOf(count)}
          height={heightOf(count)}
        />
      ))}
    </svg>
  )
}

/** Returns "12 failures in 3 of 24 parts of the time, most in part 20". */
export function countWords(counts: readonly number[], what: string): string {
  const all = counts.reduce((sum, count) => sum + count, 0)
  const busy = counts.filter(count => count > 0).length
  const most = counts.indexOf(Math.max(...counts, 0)) + 1
  const where = all === 0 ? '' : `, most in interval ${most}`
  return `${all} ${all === 1 ? what.replace(/s$/, '') : what} in ${busy} of ${counts.length} intervals${where}`
}
