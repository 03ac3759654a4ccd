// Counts what a commit has made true: runs that started and ended, events, deliveries. Called by the announcer, which
// hears of every commit once it is durable.

import type { Change } from '../../domain/model/change.ts'
import type { Delivery } from '../../domain/model/delivery.ts'
import type { Run } from '../../domain/model/run.ts'
import type { Metrics } from '../../ports/metrics.ts'

/** Counts one durable change. */
export function countChange(change: Change, metrics: Metrics): void {
  switch (change.type) {
    case 'run.created':
      // Leased in the very commit that made it.
      if (change.run.startedAt !== undefined) metrics.runStarted(change.run)
      countEnd(change.run, metrics)
      break
    case 'run.moved':
      if (change.started) metrics.runStarted(change.run)
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

/** A run that has ended moves no more: its end is told once. */
function countEnd(run: Run, metrics: Metrics): void {
  const { status } = run
  if (status === 'succeeded' || status === 'failed' || status === 'cancelled') metrics.runEnded(run, status)
}

function countDelivery({ status }: Delivery, metrics: Metrics): void {
  if (status === 'succeeded' || status === 'exhausted' || status === 'dead') metrics.deliveryEnded(status)
}
