// cancelOn: an event cancels the live runs that watch for it (docs/flow-control.md#events-that-cancel). The event's commit
// requests the cancel. After that no pass of these runs is sent and no answer of a runner counts. The engine that leases such a
// run next ends it with its children.

import type { EventSubject } from '../expressions/event-subject.ts'
import { isAwaited, type Report } from '../expressions/matching.ts'
import type { Change } from '../model/change.ts'
import type { UnitWithQuestions } from '../model/decision.ts'
import type { Event, Watcher } from '../model/event.ts'
import type { Run } from '../model/run.ts'
import type { Assumptions } from '../run/assumptions.ts'
import { watchersFor } from './live/found.ts'
import type { Drafted } from './live/live-runs.ts'

export interface CancelledByEvent extends UnitWithQuestions {
  runIds: Set<string>
  /** The cancelled runs that the unit itself creates: they must be created with the request to cancel. */
  atBirth: string[]
  /** Whether the event cancels the run that emits it. */
  cancelsSelf: boolean
}

/** Decides which runs the event cancels: runs that watch for its name, were created before it, and whose condition holds. */
export function cancelWatching(input: {
  event: Event
  subject: EventSubject
  assumptions: Assumptions
  drafted: Drafted
  now: number
  report: Report
}): CancelledByEvent {
  const { event, subject, assumptions, drafted, now, report } = input
  const isMet = (watcher: Watcher) =>
    event.receivedAt <= (watcher.until ?? Infinity) && isAwaited(watcher, subject, report)
  const { rows: watchers, guards, questions } = watchersFor(event, subject, assumptions)
  const runIds = new Set<string>()
  const changes: Change[] = []
  const atBirth: string[] = []
  for (const watcher of watchers) {
    if (runIds.has(watcher.runId) || !isMet(watcher)) continue
    runIds.add(watcher.runId)
    if (watcher.runId !== drafted.self?.id) changes.push({ type: 'run.cancelRequested', runId: watcher.runId, at: now })
  }
  for (const run of createdBefore(drafted)) {
    if (!watchersOf(run, event.name).some(isMet)) continue
    runIds.add(run.id)
    atBirth.push(run.id)
  }
  const cancelsSelf = drafted.self !== undefined && runIds.has(drafted.self.id)
  return { guards, questions, changes, runIds, atBirth, cancelsSelf }
}

/** The runs that the unit creates before the event and that an event may cancel. */
function createdBefore({ changes }: Drafted): Run[] {
  return changes.flatMap(change =>
    change.type === 'run.created' && change.run.cancelOn && !change.run.cancelRequested ? [change.run] : [],
  )
}

function watchersOf(run: Run, eventName: string): Watcher[] {
  return (run.cancelOn ?? [])
    .filter(({ event }) => event === eventName)
    .map(({ if: filter, match, timeoutMs }) => ({
      runId: run.id,
      ...(timeoutMs === undefined ? {} : { until: run.createdAt + timeoutMs }),
      ...(filter === undefined && match === undefined
        ? {}
        : {
            condition: {
              ...(filter === undefined ? {} : { filter }),
              ...(match === undefined ? {} : { match }),
              trigger: { ...run.trigger, data: run.input },
            },
          }),
    }))
}
