// Parking: when a run has nothing to do now, when it wakes, and why it waits. Also the other side: what falls due.

import type { WaitingFor } from '../model/run.ts'
import type { Step } from '../model/step.ts'
import type { Draft } from './draft.ts'

/** Settles every sleep that has ended and every wait that has timed out by now. */
export function settleDue(draft: Draft): void {
  for (const step of [...draft.open.values()]) {
    if (step.status !== 'waiting' || step.wakeAt === undefined || step.wakeAt > draft.now) continue
    const timedOut = step.op === 'WaitForEvent' ? { timedOut: true } : {}
    draft.moveStep(step, { status: 'succeeded', data: 'null', finishedAt: draft.now, ...timedOut })
  }
}

/**
 * Parks the drafted run until the earliest deadline of its open steps and gives the lease back. A paused run stays
 * paused and wakes only to settle timers. `offeredAt` is when the last pass was sent: a retry that was due then and
 * was not reported will not come by itself, so it is no reason to wake.
 * Answers false (and changes nothing) when nothing will ever wake the run.
 */
export function park(draft: Draft, offeredAt: number): boolean {
  const reasons = [...draft.open.values()].filter(
    step => step.status === 'waiting' || isBackoff(step, offeredAt),
  )
  const paused = draft.run.status === 'paused'
  if (reasons.length === 0 && !paused) return false
  const timers = paused ? reasons.filter(step => step.status === 'waiting') : reasons
  const deadlines = timers.map(deadline).filter(time => time !== undefined)
  draft.set({
    availableAt: deadlines.length === 0 ? undefined : Math.min(...deadlines),
    leaseOwner: undefined,
    waitingFor: paused ? undefined : waitingFor(reasons),
  })
  if (!paused) draft.move('waiting')
  return true
}

/** The time at which a step falls due by itself, if it ever does. */
export function deadline(step: Step): number | undefined {
  return step.status === 'retrying' ? step.nextAttemptAt : step.wakeAt
}

function isBackoff(step: Step, offeredAt: number): boolean {
  return step.status === 'retrying' && (step.nextAttemptAt ?? 0) > offeredAt
}

/** What a parked run tells people: the reason that ends first, timed ones before open-ended ones. */
function waitingFor(reasons: readonly Step[]): WaitingFor {
  const [first] = [...reasons].sort((a, b) => (deadline(a) ?? Infinity) - (deadline(b) ?? Infinity)) as [Step]
  const until = deadline(first)
  return {
    kind: kindOf(first),
    stepName: first.name,
    ...(until === undefined ? {} : { until }),
    ...(first.eventName === undefined ? {} : { eventName: first.eventName }),
    ...(first.childRunId === undefined ? {} : { childRunId: first.childRunId }),
  }
}

function kindOf(step: Step): WaitingFor['kind'] {
  if (step.status === 'retrying') return 'retry'
  if (step.op === 'WaitForEvent') return 'event'
  return step.op === 'RunWorkflow' ? 'child' : 'sleep'
}
