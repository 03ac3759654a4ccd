// Batch: one run for up to `maxSize` events, or for those that arrive before the timeout (docs/flow-control.md#batch).

import { buffer } from './buffer.ts'
import type { Policy } from './policy.ts'

export const batch: Policy = (input, arrival) => {
  const policy = input.workflow.flowControl?.batch
  if (!policy) return undefined
  const { maxSize, timeoutMs, key } = policy
  const fireAt = (firstAt: number) => firstAt + timeoutMs
  buffer({ policy: 'batch', key, fireAt, countMax: maxSize, keepsTrace: true }, input, arrival)
  return { batched: true }
}
