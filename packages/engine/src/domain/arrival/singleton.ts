// Singleton: one live run per workflow and key. A second event is skipped, or cancels the live run in the same commit
// as its own run begins, so that there are never two. Only runs that events start carry the key: a child, a fork and
// an on-failure run are asked for by name.

import { keyOf } from '../expressions/key.ts'
import type { Change } from '../model/change.ts'
import { isTerminal, type Run } from '../model/run.ts'
import { cancel } from '../run/control.ts'
import { RunState } from '../run/state.ts'
import type { Arrival, ArrivalInput, Policy } from './policy.ts'

export const singleton: Policy = (input, arrival) => {
  const policy = input.workflow.flowControl?.singleton
  if (!policy) return undefined
  const key = keyOf(policy.key, input)
  const live = liveRunsWithKey(input, arrival, key)
  if (policy.mode === 'skip' && live.length > 0) return { skipped: true }
  for (const runId of live) cancelLive(input, arrival, runId)
  if (arrival.questions.length > 0) return {}
  arrival.singletonKey = key
  return undefined
}

/** The name of the runs of a workflow that share a singleton key, in what is known. */
export function liveKey(of: { namespace: string; app: string; workflow: string; key: string }): string {
  return JSON.stringify([of.namespace, of.app, of.workflow, of.key])
}

/** The live runs with the key: the durable ones, guarded, as this very unit has left them, and those it has made. */
function liveRunsWithKey(input: ArrivalInput, arrival: Arrival, key: string): string[] {
  const { event, workflow, assumptions, drafted, cancelled } = input
  const of = { namespace: event.namespace, app: workflow.app, workflow: workflow.name, key }
  const durable = assumptions.live.get(liveKey(of)) ?? []
  arrival.guards.push({ type: 'live', ...of, runIds: durable })
  const made = drafted.changes.flatMap(change =>
    change.type === 'run.created' && hasKey(change.run, of) && !change.run.cancelRequested
      ? [change.run.id]
      : [],
  )
  return [...durable, ...made].filter(id => !cancelled.has(id) && !hasEnded(id, input))
}

function hasKey(run: Run, of: { namespace: string; app: string; workflow: string; key: string }): boolean {
  return run.workflow === of.workflow && run.app === of.app && run.singletonKey === of.key
}

/** Whether the unit in the making ends the run. */
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
  const made = drafted.changes.find(change => change.type === 'run.created' && change.run.id === runId)
  if (made?.type === 'run.created') {
    // The unit creates the run and ends it. Created with the request to cancel, it is leased by nobody.
    arrival.cancelledAtBirth.push(runId)
    arrival.changes.push(...cancel(RunState.created(made.run), { now, catalog }).changes)
    return
  }
  // Woken by this very unit, so that no decision on what is stored would fit: whoever leases it next ends it.
  if (drafted.changes.some(change => change.type === 'step.woken' && change.runId === runId)) {
    arrival.changes.push({ type: 'run.cancelRequested', runId, at: now })
    return
  }
  const state = assumptions.runs.get(runId)
  if (!state) {
    arrival.questions.push({ type: 'run', runId })
    return
  }
  // Ended since: then the guard on the live runs does not hold either, and they are learned anew.
  if (isTerminal(state.run.status)) return
  const { guards, changes } = cancel(state, { now, catalog })
  arrival.guards.push(...guards)
  arrival.changes.push(...changes.map(interruptingPass))
}

function interruptingPass(change: Change): Change {
  return change.type === 'run.moved' ? { ...change, interrupts: true } : change
}
