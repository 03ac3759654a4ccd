// Counts the contents of a durable commit: runs that started and ended, events, deliveries. Called by the announcer for every
// change.

import type { Change } from '../../domain/model/change.ts'
import type { Delivery } from '../../domain/model/delivery.ts'
import { type Run, runKind } from '../../domain/model/run.ts'
import type { Metrics } from '../../ports/metrics.ts'

/** Counts one durable change. */
export function countChange(change: Change, metrics: Metrics): void {
  switch (change.type) {
    case 'run.created':
      // A run that is leased in the commit that creates it has started.
      if (change.run.startedAt !== undefined) metrics.runStarted(change.run, runKind(change.run))
      countEnd(change.run, metrics)
      break
    case 'run.moved':
      if (change.started) metrics.runStarted(change.run, runKind(change.run))
      countEnd(change.run, metrics)
      break
    case 'event.recorded':
      metrics.eventAccepted()
      break
    case 'delivery.attempted':
      metrics.deliveryAttempted(change.attempt.outcome)
      break
    case 'delivery.moved':
      countDelivery(change.delivery, metrics)
      break
  }
}

/** Counts each end once: an ended run changes no more. */
function countEnd(run: Run, metrics: Metrics): void {
  const { status } = run
  if (status === 'succeeded' || status === 'failed' || status === 'cancelled') {
    metrics.runEnded(run, { kind: runKind(run), status })
  }
}

function countDelivery({ status }: Delivery, metrics: Metrics): void {
  if (status === 'succeeded' || status === 'exhausted' || status === 'dead') metrics.deliveryEnded(status)
}
