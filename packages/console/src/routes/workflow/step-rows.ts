// The step rows on the page of a workflow: how much each step costs, relative to the most expensive one, and as text. Pure.

import { durationText } from '../../ui/duration.ts'
import type { Stats } from '../workflows/stats.ts'

const STEPS_SHOWN = 10

export interface StepRow {
  name: string
  /** The length of its bar, in percent of the longest. */
  percent: number
  /** "13.1 s in 7, p95 2.23 s". */
  text: string
}

/** Returns the steps in the engine's order: the one with the largest total time first. */
export function stepRows(steps: Stats['steps']): StepRow[] {
  const most = Math.max(...steps.map(({ totalMs }) => totalMs), 1)
  return steps.slice(0, STEPS_SHOWN).map(({ name, count, totalMs, p95Ms }) => ({
    name,
    percent: (100 * totalMs) / most,
    text: `${durationText(totalMs)} in ${count}, p95 ${durationText(p95Ms)}`,
  }))
}
