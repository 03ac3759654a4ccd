// Counts the posts to an endpoint: which attempts count, and in which class of the roll-ups. Used by the delivery service, the
// roll-ups and the series.

import type { CountedPost, Delivery, DeliveryAttempt } from '../model/delivery.ts'
import { type Durations, durationClass, noDurations } from '../view/durations.ts'

/** The class of a post without a duration: it neither was answered nor timed out. */
const NO_DURATION = -1

/** Returns undefined for a custom send, a test, and an attempt that posted nothing. */
export function countedPost(
  { namespace, endpointId, eventKind }: Delivery,
  { outcome, durationMs, createdAt: at }: DeliveryAttempt,
): CountedPost | undefined {
  if (endpointId === undefined || eventKind === 'test' || outcome === 'skipped') return undefined
  const of = outcome === 'connection_error' ? NO_DURATION : durationClass(durationMs)
  return { namespace, endpointId, at, outcome: outcome === 'succeeded' ? 'succeeded' : 'failed', durationClass: of }
}

/** Posts of one span of time. */
export interface PostTally extends Record<CountedPost['outcome'], number> {
  durations: Durations
}

export function emptyPostTally(): PostTally {
  return { succeeded: 0, failed: 0, durations: noDurations() }
}
