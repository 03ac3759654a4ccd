// Decides the effect of an event on one workflow that it triggers: first its policies in order
// (docs/flow-control.md#the-order), then a run if every policy lets the event through. Called by fanout.ts.

import type { FlowControl } from '../model/flow-control.ts'
import { eventRun } from '../run/create.ts'
import { batch, debounce } from './buffer.ts'
import { idempotency } from './idempotency.ts'
import { type Arrival, type ArrivalInput, type Policy, startRun } from './policy.ts'
import { rateLimit } from './rate-limit.ts'
import { singleton } from './singleton.ts'

/**
 * The code that applies each policy. The functions here decide about the event, in this order, and let it through if the
 * workflow lacks that policy; the other policies shape the run that the event starts. The type demands an entry for each
 * policy.
 */
const POLICIES: { readonly [P in keyof Required<FlowControl>]: Policy | 'holds/holds' | 'run/create' } = {
  idempotency,
  rateLimit,
  singleton,
  debounce,
  batch,
  concurrency: 'holds/holds',
  throttle: 'holds/holds',
  priority: 'holds/holds',
  fairness: 'holds/holds',
  timeouts: 'holds/holds',
  cancelOn: 'run/create',
}
const DECIDING = Object.values(POLICIES).filter(policy => typeof policy === 'function')

export function triggerWorkflow(input: ArrivalInput): Arrival {
  const { event, workflow, pin, attributes, trace, engineEvents, report } = input
  const entry = { workflow: workflow.name, app: workflow.app }
  const arrival: Arrival = { entry, guards: [], changes: [], questions: [], cancelledAtBirth: [], warnings: [] }
  for (const policy of workflow.flowControl ? DECIDING : []) {
    const result = policy(input, arrival)
    if (result) {
      Object.assign(arrival.entry, result)
      return arrival
    }
  }
  const { singletonKey } = arrival
  startRun(arrival, eventRun({ event, workflow, pin, attributes, trace, engineEvents, singletonKey, report }))
  return arrival
}
