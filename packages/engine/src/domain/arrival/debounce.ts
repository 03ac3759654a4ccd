// Debounce: one run for a burst of events, once no event has arrived for the period (docs/flow-control.md#debounce).

import { buffer } from './buffer.ts'
import type { Policy } from './policy.ts'

/** Maximum number of events of a burst with `mode: all`: the last of them starts the run at once. */
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
