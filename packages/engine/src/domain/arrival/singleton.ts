// Singleton: one live run per workflow and key (docs/flow-control.md#singleton). A second event is skipped, or cancels the
// live run in the commit that creates its own run, so there are never two. Only runs started by events have a key, not
// children, forks and on-failure runs.

import type { Change } from '../model/change.ts'
import { isTerminal, type Run } from '../model/run.ts'
import { cancel } from '../run/control.ts'
import { RunState } from '../run/state.ts'
import { type Arrival, type ArrivalInput, dropKey, type Policy } from './policy.ts'

export const singleton: Policy = (input, arrival) => {
  const policy = input.workflow.flowControl?.singleton
  if (!policy) return undefined
  const key = dropKey('singleton', policy.key, { input, arrival })
  if (key === undefined) return undefined
  const live = liveRunsWithKey(input, arrival, key)
  if (policy.mode === 'skip' && live[0] !== undefined) return { skipped: true, liveRunId: live[0] }
  for (const runId of live) cancelLive(input, arrival, runId)
  if (arrival.questions.length > 0) return {}
  arrival.singletonKey = key
  return undefined
}

/** The key in `Assumptions.live` of the runs that share a singleton key. */
export function liveKey(of: { namespace: string; app: string; workflow: string; key: string }): string {
  return JSON.stringify([of.namespace, of.app, of.workflow, of.key])
}

/** Ids of the live runs with the key: the durable ones, which are guarded, and those that the unit creates, without those that it ends. */
function liveRunsWithKey(input: ArrivalInput, arrival: Arrival, key: string): string[] {
  const { event, workflow, assumptions, drafted, cancelled } = input
  const of = { namespace: event.namespace, app: workflow.app, workflow: workflow.name, key }
  const durable = assumptions.live.get(liveKey(of)) ?? []
  arrival.guards.push({ type: 'live', ...of, runIds: durable })
  const created = drafted.changes.flatMap(change =>
    change.type === 'run.created' && hasKey(change.run, of) && !change.run.cancelRequested ? [change.run.id] : [],
  )
  return [...durable, ...created].filter(id => !cancelled.has(id) && !hasEnded(id, input))
}

function hasKey(run: Run, of: { namespace: string; app: string; workflow: string; key: string }): boolean {
  return run.workflow === of.workflow && run.app === of.app && run.singletonKey === of.key
}

/** Whether the unit so far ends the run. */
function hasEnded(runId: string, { drafted: { self, changes } }: ArrivalInput): boolean {
  if (self?.id === runId) return self.cancelRequested === true
  return changes.some(
    change =>
      (change.type === 'run.moved' && change.run.id === runId && isTerminal(change.run.status)) ||
      (change.type === 'run.cancelRequested' && change.runId === runId),
  )
}

function cancelLive(input: ArrivalInput, arrival: Arrival, runId: string): void {
  const { drafted, assumptions, now, catalog } = input
  if (drafted.self?.id === runId) {
    arrival.cancelsSelf = true
    return
  }
  const created = drafted.changes.find(change => change.type === 'run.created' && change.run.id === runId)
  if (created?.type === 'run.created') {
    // The unit creates the run and ends it. No engine leases a run created with the request to cancel.
    arrival.cancelledAtBirth.push(runId)
    arrival.changes.push(...cancel(RunState.created(created.run), { now, catalog }).changes)
    return
  }
  // The unit wakes the run, so a decision on the stored run would be stale. The engine that leases the run next ends it.
  if (drafted.changes.some(change => change.type === 'step.woken' && change.runId === runId)) {
    arrival.changes.push({ type: 'run.cancelRequested', runId, at: now })
    return
  }
  const state = assumptions.runs.get(runId)
  if (!state) {
    arrival.questions.push({ type: 'run', runId })
    return
  }
  // The run has ended since. Then the guard on the live runs does not hold either, and they are read again.
  if (isTerminal(state.run.status)) return
  const { guards, changes } = cancel(state, { now, catalog })
  arrival.guards.push(...guards)
  arrival.changes.push(...changes.map(interruptingPass))
}

function interruptingPass(change: Change): Change {
  return change.type === 'run.moved' ? { ...change, interrupts: true } : change
}
