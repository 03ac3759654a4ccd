// Rate limit: at most `limit` events per key get past in any window of `period`; the others are dropped. The limiter
// counts them, and it is asked once per event and workflow, however often the event is decided on.

import { keyOf } from '../expressions/key.ts'
import { limiterKey } from '../holds/limiter-key.ts'
import type { Policy } from './policy.ts'

export const rateLimit: Policy = (input, arrival) => {
  const { event, workflow, assumptions, origin, now } = input
  const policy = workflow.flowControl?.rateLimit
  if (!policy) return undefined
  const of = JSON.stringify([origin, workflow.app, workflow.name])
  const admitted = assumptions.limiterAnswers.get(of)
  if (admitted !== undefined) return admitted ? undefined : { dropped: true }
  const { limit, periodMs } = policy
  const { namespace } = event
  const parts = { namespace, app: workflow.app, workflow: workflow.name, policy: 'rateLimit' } as const
  const key = limiterKey({ ...parts, key: keyOf(policy.key, input) })
  arrival.questions.push({ type: 'take', of, quota: { key, limit, periodMs, now } })
  return {}
}
