// The attempts of a delivery on its schedule: past attempts with the pauses between them, the next one, and how many remain after
// it. Pure.

import type { Calls } from '@perdure/client'

type Delivery = Pick<
  Calls['getWebhookDelivery']['reply'],
  'attempts' | 'attemptCount' | 'maxAttempts' | 'nextAttemptAt'
>
type Attempt = Delivery['attempts'][number]

export interface AttemptPlan {
  made: { attempt: Attempt; pauseMs: number | undefined }[]
  next: { at: string; pauseMs: number | undefined } | undefined
  /** Number of attempts after the next one, if all of them fail; zero if there is no next one. */
  left: number
}

export function attemptPlan({ attempts, attemptCount, maxAttempts, nextAttemptAt }: Delivery): AttemptPlan {
  const pauseTo = (at: string, before: Attempt | undefined) =>
    before && Math.max(0, Date.parse(at) - Date.parse(before.createdAt))
  const made = attempts.map((attempt, i) => ({ attempt, pauseMs: pauseTo(attempt.createdAt, attempts[i - 1]) }))
  if (nextAttemptAt === undefined) return { made, next: undefined, left: 0 }
  const next = { at: nextAttemptAt, pauseMs: pauseTo(nextAttemptAt, attempts.at(-1)) }
  return { made, next, left: Math.max(0, maxAttempts - attemptCount - 1) }
}
