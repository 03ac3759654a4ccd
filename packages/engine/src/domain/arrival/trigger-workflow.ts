// What becomes of an event that has met a workflow's trigger: the policies in their order, and a run if all of them let
// it through (decisions, "Flow control at registration": idempotency, rateLimit, singleton, debounce, batch, create).

import { eventRun } from '../run/create.ts'
import { batch } from './batch.ts'
import { debounce } from './debounce.ts'
import { idempotency } from './idempotency.ts'
import { type Arrival, type ArrivalInput, type Policy, startRun } from './policy.ts'
import { rateLimit } from './rate-limit.ts'
import { singleton } from './singleton.ts'

/** In the order in which they are asked. Each does nothing for a workflow that has not registered it. */
const POLICIES: readonly Policy[] = [idempotency, rateLimit, singleton, debounce, batch]

export function triggerWorkflow(input: ArrivalInput): Arrival {
  const { event, workflow, pin, trace, report } = input
  const entry = { workflow: workflow.name, app: workflow.app }
  const arrival: Arrival = { entry, guards: [], changes: [], questions: [], cancelledAtBirth: [] }
  // Most workflows have none.
  for (const policy of workflow.flowControl ? POLICIES : []) {
    const verdict = policy(input, arrival)
    if (verdict) {
      Object.assign(arrival.entry, verdict)
      return arrival
    }
  }
  const { singletonKey } = arrival
  startRun(arrival, eventRun({ event, workflow, pin, trace, singletonKey, report }))
  return arrival
}
