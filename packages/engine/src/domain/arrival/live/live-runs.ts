// The live runs of a workflow that share a key, as seen in a unit under way: the durable ones, which are guarded, and those
// that the unit itself creates. A start cancels them in the commit that creates its own run, so there are never two. Called by
// singletons and by direct starts with a key.

import type { CatalogView } from '../../model/catalog.ts'
import type { Change, Guard } from '../../model/change.ts'
import type { UnitWithQuestions } from '../../model/decision.ts'
import { isTerminal, type Run } from '../../model/run.ts'
import type { Assumptions } from '../../run/assumptions.ts'
import { cancel } from '../../run/control.ts'
import { cancelAtBirth, interruptingPass } from '../../run/draft.ts'
import { RunState } from '../../run/state.ts'

/**
 * Identifies live runs by key. `live`: by singleton key. `unended`: the same, including runs with a requested cancel.
 * `started`: by the key of a direct start.
 */
export type LiveKey = Omit<Extract<Guard, { type: 'live' | 'unended' | 'started' }>, 'runIds'>

/**
 * The unit so far: an event that is emitted later in the same pass sees the runs of the unit as if they were durable. The
 * unit's flow-control rows are in the assumptions (`noteWritten`).
 */
export interface Drafted {
  changes: readonly Change[]
  /** The run that emits the event. It has `cancelRequested` once one of its own events has cancelled it. */
  self?: Readonly<Run>
}

/** The facts that decide which live runs have a key. */
export interface LiveFacts {
  assumptions: Pick<Assumptions, 'live' | 'runs'>
  /** The unit so far, and the run whose pass it is. */
  drafted: Drafted
  /** Runs that count as ended. */
  cancelled: ReadonlySet<string>
  now: number
  catalog: CatalogView
}

/** The part that a start with a key adds to its unit. */
export interface LiveClaim extends UnitWithQuestions {
  /** Runs that the unit creates and that must be created with the request to cancel. */
  cancelledAtBirth: string[]
  /** The start cancels the run whose step it is. */
  cancelsSelf?: true
  /** The live run that is the reason why nothing is started. */
  liveRunId?: string
}

/** A claim that adds nothing yet. */
export function emptyClaim(): LiveClaim {
  return { guards: [], changes: [], questions: [], cancelledAtBirth: [] }
}

/** The key in `Assumptions.live` of the runs that share a key. */
export function liveKey({ type, namespace, app, workflow, key }: LiveKey): string {
  return JSON.stringify([type, namespace, app, workflow, key])
}

/** Ids of the live runs with the key, except those that the unit ends. */
export function liveRunsWithKey(of: LiveKey, { known, unit }: { known: LiveFacts; unit: LiveClaim }): string[] {
  const { assumptions, drafted, cancelled } = known
  const durable = assumptions.live.get(liveKey(of)) ?? []
  unit.guards.push({ ...of, runIds: durable })
  const untilEnd = of.type === 'unended'
  const created = drafted.changes.flatMap(change =>
    change.type === 'run.created' && hasKey(change.run, of) && (untilEnd || !change.run.cancelRequested)
      ? [change.run.id]
      : [],
  )
  if (untilEnd) return [...durable, ...created].filter(id => !endIn(id, drafted))
  return [...durable, ...created].filter(id => !cancelled.has(id) && !hasEnded(id, drafted))
}

function hasKey(run: Run, { type, app, workflow, key }: LiveKey): boolean {
  const own = type === 'started' ? run.startKey : run.singletonKey
  return run.workflow === workflow && run.app === app && own === key
}

/** Whether the unit so far ends the run. */
function hasEnded(runId: string, { self, changes }: Drafted): boolean {
  if (self?.id === runId) return self.cancelRequested === true
  return (
    endIn(runId, { changes }) || changes.some(change => change.type === 'run.cancelRequested' && change.runId === runId)
  )
}

/** Whether the changes store the end of the run. */
function endIn(runId: string, { changes }: Drafted): boolean {
  return changes.some(change => change.type === 'run.moved' && change.run.id === runId && isTerminal(change.run.status))
}

/** Adds the cancel of a live run to the unit, or the question for it. */
export function cancelLive(runId: string, { known, unit }: { known: LiveFacts; unit: LiveClaim }): void {
  const { drafted, assumptions, now, catalog } = known
  if (drafted.self?.id === runId) {
    unit.cancelsSelf = true
    return
  }
  const created = drafted.changes.find(change => change.type === 'run.created' && change.run.id === runId)
  if (created?.type === 'run.created') {
    // The unit creates the run and ends it. No engine leases a run created with the request to cancel.
    unit.cancelledAtBirth.push(runId)
    unit.changes.push(...cancel(RunState.created(created.run), { now, catalog }).changes)
    return
  }
  // The unit wakes the run, so a decision on the stored run would be stale. The engine that leases the run next ends it.
  if (drafted.changes.some(change => change.type === 'step.woken' && change.runId === runId)) {
    unit.changes.push({ type: 'run.cancelRequested', runId, at: now })
    return
  }
  const state = assumptions.runs.get(runId)
  if (!state) {
    unit.questions.push({ type: 'run', runId })
    return
  }
  // The run has ended since. The guard on the live runs then fails too, and they are read again.
  if (isTerminal(state.run.status)) return
  const { guards, changes, questions } = cancel(state, { now, catalog })
  unit.questions.push(...questions)
  unit.guards.push(...guards)
  unit.changes.push(...changes.map(interruptingPass))
}

/** Adds a claim, and the run that makes it, to the changes of a unit. */
export function addStart(changes: Change[], claim: LiveClaim, created: readonly Change[]): void {
  changes.push(...claim.changes, ...created)
  for (const runId of claim.cancelledAtBirth) cancelAtBirth(changes, runId)
}
