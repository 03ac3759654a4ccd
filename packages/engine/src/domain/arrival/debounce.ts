// Debounce: one run for a burst of events, once it has been quiet for a while (decisions, "Flow control").

import { buffer } from './buffer.ts'
import type { Policy } from './policy.ts'

/** With `mode: all` a burst of so many events is not waited out: the event that makes them so many starts the run. */
export const DEBOUNCE_COUNT_MAX = 1000

export const debounce: Policy = (input, arrival) => {
  const policy = input.workflow.flowControl?.debounce
  if (!policy) return undefined
  const { periodMs, timeoutMs = Infinity, mode, key } = policy
  const fireAt = (firstAt: number, now: number) => Math.min(now + periodMs, firstAt + timeoutMs)
  const keeps = { last: {}, first: { keepsFirst: true }, all: { countMax: DEBOUNCE_COUNT_MAX } }[mode]
  buffer({ policy: 'debounce', key, fireAt, ...keeps }, input, arrival)
  return { debounced: true }
}
