// The critical path: the chain of steps that determines how long a run took. Shortening any other step changes nothing.

import type { Bar } from './model.ts'

/** The clocks of engine and runner differ slightly: a step may seem to start before the previous one has ended. */
const OVERLAP_MS = 2

/**
 * Returns ids of the steps on the critical path, first to last. Goes back from the step that ended last, each time to the step
 * that ended last before that one began. Carried steps took no time in this run and are left out.
 */
export function criticalPath(bars: readonly Bar[], endMs: number): string[] {
  const ended = bars
    .filter(bar => !bar.carried)
    .map(bar => ({ id: bar.id, fromMs: bar.fromMs, toMs: bar.toMs ?? endMs }))
    .sort((a, b) => a.toMs - b.toMs || a.fromMs - b.fromMs)
  const path: string[] = []
  let before = Number.POSITIVE_INFINITY
  for (let i = ended.length - 1; i >= 0; i--) {
    const step = ended[i] as (typeof ended)[number]
    if (step.toMs > before + OVERLAP_MS) continue
    path.push(step.id)
    before = step.fromMs
  }
  return path.reverse()
}
