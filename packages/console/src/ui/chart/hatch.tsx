// The hatching of failure bars, so that they differ from other bars by more than their colour. Called by run-chart and
// post-chart.

import css from './chart.module.css'

/** A pattern for bars that fill with `url(#id)`. */
export function Hatch({ id }: { id: string }) {
  return (
    // The plot is stretched horizontally: horizontal stripes keep their form.
    <pattern id={id} width={1} height={4} patternUnits="userSpaceOnUse">
      <rect width={1} height={2.5} className={css.stripe} />
    </pattern>
  )
}
