// Rate limit: at most `limit` events per key pass in any window of `period`; the others are dropped
// (docs/flow-control.md#rate-limit). The limiter is queried once per event and workflow, even if the event is decided again.

import { flowRowId } from '../model/flow-row.ts'
import { dropKey, type Policy } from './policy.ts'

export const rateLimit: Policy = (input, arrival) => {
  const { event, workflow, assumptions, origin, now } = input
  const policy = workflow.flowControl?.rateLimit
  if (!policy) return undefined
  const arrivalId = JSON.stringify([origin, workflow.app, workflow.name])
  const admitted = assumptions.limiterAnswers.get(arrivalId)
  if (admitted !== undefined) return admitted ? undefined : { dropped: true }
  const value = dropKey('rateLimit', policy.key, { input, arrival })
  if (value === undefined) return undefined
  const { limit, periodMs } = policy
  const { namespace } = event
  const parts = { namespace, app: workflow.app, workflow: workflow.name, policy: 'rateLimit' } as const
  const key = flowRowId({ ...parts, key: value })
  arrival.questions.push({ type: 'take', of: arrivalId, quota: { key, limit, periodMs, now } })
  return {}
}
