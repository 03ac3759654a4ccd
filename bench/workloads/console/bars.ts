// The limits of the console's budgets, and the calibration for measured times. A count or size over its limit is a problem on
// every machine. A time is a problem only if it exceeds its limit, scaled to the speed of this machine, and the slack.

import type { Figures } from '../../report/report.ts'

/** A time is a problem only beyond its calibrated limit times this factor: anything less is noise on a shared machine. */
const SLACK = 2

export class Bars {
  readonly figures: Record<string, Figures> = {}
  readonly problems: string[] = []

  /** Checks a count, a size or a share: over its limit it is a problem. */
  count(name: string, value: number, max: number, detail = ''): void {
    this.figures[name] = { measured: value, bar: max }
    if (!(value <= max)) this.problems.push(`${name}: ${value}, over the bar of ${max} ${detail}`)
  }

  /** Checks a time. `slowness` is the machine's during the measurement. */
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
