// The bars of the console's budgets, and the calibration that times are measured against. Counts and sizes over their bar are
// problems on every machine; a time is one only beyond its bar on a machine of this speed, and the slack.

import type { Figures } from '../../report/report.ts'

/** A time beyond its calibrated bar by this factor is a problem: less is noise on a shared machine. */
const SLACK = 2

export class Bars {
  readonly figures: Record<string, Figures> = {}
  readonly problems: string[] = []

  /** A count, a size or a share: over its bar it is a problem. */
  count(name: string, value: number, max: number, detail = ''): void {
    this.figures[name] = { measured: value, bar: max }
    if (!(value <= max)) this.problems.push(`${name}: ${value}, over the bar of ${max} ${detail}`)
  }

  /** A time. `slowness` is that of the machine while it was measured. */
  time(name: string, ms: number, { barMs, slowness }: { barMs: number; slowness: number }): void {
    const limitMs = barMs * Math.max(1, slowness) * SLACK
    this.figures[name] = { ms, 'bar ms': barMs, 'fails over ms': limitMs }
    if (!(ms <= limitMs))
      this.problems.push(`${name}: ${ms.toFixed(0)} ms, over ${limitMs.toFixed(0)} ms on this machine`)
  }

  add(name: string, figures: Figures): void {
    this.figures[name] = figures
  }
}
