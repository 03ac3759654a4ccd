// Checks events that singletons delivered, at the end of a simulation: each was given to a run or started one. After a handler
// has ended with it, it does neither again (docs/flow-control.md#singleton).

import type { Event } from '../../../packages/engine/src/domain/model/event.ts'
import type { Step } from '../../../packages/engine/src/domain/model/step.ts'
import { ensure } from '../core/violation.ts'
import type { JudgedRun, Snapshot } from './snapshot.ts'
import { tokenOf } from './step-checks.ts'

export function checkInboxes(all: Snapshot): void {
  // In the order of their creation.
  const inOrder = [...all.records.keys()].map(id => all.runs.get(id) as JudgedRun)
  for (const event of all.events.values()) {
    for (const { workflow, app, delivered, skipped, liveRunId = '' } of event.triggered) {
      if (!delivered && !skipped) continue
      const live = all.runs.get(liveRunId)
      const detail = () => `${JSON.stringify(event)}: ${JSON.stringify(live?.run)}`
      const mode = all.specs.find(spec => spec.name === workflow && spec.app === app)?.singleton?.mode
      ensure(mode === (delivered ? 'deliver' : 'skip'), 'a singleton does what its mode says', detail, [event.id])
      const isIts = live?.run.workflow === workflow && live.run.app === app && live.namespace === event.namespace
      ensure(isIts, 'a singleton names a live run of its workflow', detail, [event.id, liveRunId])
      if (delivered) checkDelivered(all, { event, live, inOrder: inOrder.slice(inOrder.indexOf(live)) })
    }
  }
}

interface Delivered {
  event: Event
  live: JudgedRun
  /** The runs from the live one on. */
  inOrder: readonly JudgedRun[]
}

function checkDelivered(all: Snapshot, { event, live, inOrder }: Delivered): void {
  const { workflow, app, namespace, singletonKey } = live.run
  const ofKey = inOrder.filter(
    ({ run }) =>
      run.workflow === workflow && run.app === app && run.namespace === namespace && run.singletonKey === singletonKey,
  )
  const uses = ofKey.flatMap(record => {
    const isStarted = record.run.eventId === event.id
    const waits = record.steps.filter(
      ({ op, eventId, carried }) => op === 'WaitForEvent' && eventId === event.id && !carried,
    )
    const isGiven = isStarted || waits.some(step => wasGiven(all, record, step))
    return isStarted || waits.length > 0
      ? [{ record, isStarted, isGiven, isSure: waits.some(step => isSure(all, record, step)) }]
      : []
  })
  const detail = () =>
    `${JSON.stringify(event)} in ${live.id}: ${uses.map(({ record, ...use }) => `${record.id} ${JSON.stringify(use)}`)}`
  const subjects = [event.id, ...ofKey.map(({ id }) => id)]
  ensure(
    uses.some(({ isGiven }) => isGiven),
    'a delivered event is given to a run',
    detail,
    subjects,
  )
  ensure(uses.filter(({ isStarted }) => isStarted).length <= 1, 'a delivered event starts one run', detail, subjects)
  const end = uses.findIndex(({ isStarted, isSure }) => isStarted || isSure)
  ensure(end < 0 || end === uses.length - 1, 'an event that was given is not delivered again', detail, subjects)
}

/** Whether a runner has worked on a pass of the run with the event. */
function wasGiven({ runnerRecord }: Snapshot, { id }: JudgedRun, step: Step): boolean {
  return runnerRecord.passes(id).some(({ memo, isAnswered }) => isAnswered && isSettled(memo[step.id]))
}

/** Whether the handler returned in a pass with the event. */
function isSure({ runnerRecord }: Snapshot, { id, run }: JudgedRun, step: Step): boolean {
  const result = tokenOf(run.result)
  const last = runnerRecord.passes(id).find(({ returned }) => returned !== undefined && returned === result)
  return isSettled(last?.memo[step.id])
}

function isSettled(entry: { pending?: boolean } | undefined): boolean {
  return entry !== undefined && !entry.pending
}
