// The stacked bars of a chart. Failures are hatched, so that they differ from other bars by more than their colour. Used by
// run-chart and post-chart.

import { useId } from 'react'
import css from './chart.module.css'
import { PLOT_HEIGHT } from './chart.tsx'
import { placeOf } from './scale.ts'

type Counts<Kind extends string> = Readonly<Record<Kind, number>>

interface BarsProps<Kind extends string> {
  points: readonly (Counts<Kind> & { at: string })[]
  /** From the bottom to the top. */
  kinds: readonly Kind[]
  max: number
}

export function Bars<Kind extends string>({ points, kinds, max }: BarsProps<Kind>) {
  const hatch = useId()
  return (
    <>
      {/* The plot is stretched horizontally: horizontal stripes keep their form. */}
      <pattern id={hatch} width={1} height={4} patternUnits="userSpaceOnUse">
        <rect width={1} height={2.5} className={css.stripe} />
      </pattern>
      {points.map((point, i) => (
        <Bar key={point.at} counts={point} kinds={kinds} x={i} scale={{ max, hatch }} />
      ))}
    </>
  )
}

interface BarProps<Kind extends string> {
  counts: Counts<Kind>
  kinds: readonly Kind[]
  x: number
  /** `hatch`: the id of the pattern for failures. */
  scale: { max: number; hatch: string }
}

function Bar<Kind extends string>({ counts, kinds, x, scale: { max, hatch } }: BarProps<Kind>) {
  let below = 0
  return kinds.map(kind => {
    const count = counts[kind]
    if (count === 0) return null
    below += count
    const y = placeOf(below, max, PLOT_HEIGHT)
    const height = PLOT_HEIGHT - placeOf(count, max, PLOT_HEIGHT)
    const fill = kind === 'failed' ? `url(#${hatch})` : undefined
    return <rect key={kind} data-kind={kind} x={x + 0.1} width={0.8} y={y} height={height} fill={fill} />
  })
}
