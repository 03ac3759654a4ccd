// Singleton: one live run per workflow and key (docs/flow-control.md#singleton). A start that meets a live run is skipped, or
// cancels that run in the commit that creates its own, so there are never two. Events are decided as a policy of their arrival; starts
// by callers, schedules, parents and forks call `claimSingleton`. On-failure runs have no key: they clean up.

import { dropKeyOf, EventSubject } from '../expressions/matching.ts'
import type { Change, Guard, Unit } from '../model/change.ts'
import type { Question } from '../model/decision.ts'
import { EngineError } from '../model/errors.ts'
import { isTerminal, type Run, runKind } from '../model/run.ts'
import { cancel } from '../run/control.ts'
import type { Under } from '../run/create.ts'
import { cancelAtBirth, interruptingPass } from '../run/draft.ts'
import { RunState } from '../run/state.ts'
import { shownRunId } from '../text/ids.ts'
import { type ArrivalInput, dropKey, type Policy } from './policy.ts'

/** The facts that the live runs of a key are found by. */
type Known = Pick<ArrivalInput, 'assumptions' | 'drafted' | 'cancelled' | 'now' | 'catalog'>
type Key = { namespace: string; app: string; workflow: string; key: string }

/** The part that a singleton adds to the unit of a start. */
export interface SingletonClaim extends Unit {
  /** If there are any, they must be answered before the start can be decided. */
  questions: Question[]
  /** Runs that the unit creates, and that must be created with the request to cancel. */
  cancelledAtBirth: string[]
  /** The start cancels the run whose step it is. */
  cancelsSelf?: true
  /** The live run for which nothing is started. */
  liveRunId?: string
}

export const singleton: Policy = (input, arrival) => {
  const { event, workflow } = input
  const policy = workflow.flowControl?.singleton
  if (!policy) return undefined
  const key = dropKey('singleton', policy.key, { input, arrival })
  if (key === undefined) return undefined
  const of = { namespace: event.namespace, app: workflow.app, workflow: workflow.name, key }
  const liveRunId = claim(policy.mode, of, { known: input, unit: arrival })
  if (liveRunId !== undefined) return { skipped: true, liveRunId }
  if (arrival.questions.length > 0) return {}
  arrival.singletonKey = key
  return undefined
}

/** A start without an event of the log, and the unit that it is a part of. */
export interface SingletonStart extends Under, Pick<Known, 'assumptions' | 'now' | 'catalog'> {
  drafted?: Known['drafted']
}

/**
 * Gives the new run the singleton key of its workflow, if that has the policy and the run cleans up after no other. The key is evaluated
 * over the event that the run's invokes carry. Nothing of the start may be committed if the claim names a live run.
 */
export function claimSingleton(run: Run, start: SingletonStart): SingletonClaim {
  const unit: SingletonClaim = { guards: [], changes: [], questions: [], cancelledAtBirth: [] }
  const { workflow, report = () => {}, drafted = { changes: [] }, ...facts } = start
  const policy = runKind(run) === 'run' ? workflow?.flowControl?.singleton : undefined
  if (!workflow || !policy) return unit
  const subject = new EventSubject({ ...run.trigger, data: run.input })
  const key = dropKeyOf('singleton', policy.key, { subject, workflow, report })
  if (key === undefined) return unit
  const of = { namespace: run.namespace, app: run.app, workflow: run.workflow, key }
  const liveRunId = claim(policy.mode, of, { known: { ...facts, drafted, cancelled: NONE }, unit })
  if (liveRunId !== undefined) return { ...unit, liveRunId }
  run.singletonKey = key
  return unit
}

const NONE: ReadonlySet<string> = new Set()

/** A new run with the changes that create it. */
interface NewRun {
  run: Run
  changes: readonly Change[]
}

/** The unit of a run that starts alone. @throws EngineError `already_running`. */
export function startAlone({ run, changes }: NewRun, start: SingletonStart): Unit & Pick<SingletonClaim, 'questions'> {
  const { guards, changes: cancelled, questions, liveRunId } = claimSingleton(run, start)
  if (liveRunId !== undefined) throw alreadyRunning(run, liveRunId)
  return { guards, changes: [...cancelled, ...changes], questions }
}

/** The unit of runs that start together, each as if those before it were durable. Without those that a singleton skips. */
export function startTogether<Item extends NewRun>(
  items: readonly Item[],
  startOf: (item: Item) => Omit<SingletonStart, 'drafted'>,
): Unit & Pick<SingletonClaim, 'questions'> & { started: Item[] } {
  const unit = { guards: [] as Guard[], changes: [] as Change[], questions: [] as Question[], started: [] as Item[] }
  for (const item of items) {
    const claimed = claimSingleton(item.run, { ...startOf(item), drafted: unit })
    unit.guards.push(...claimed.guards)
    unit.questions.push(...claimed.questions)
    if (claimed.liveRunId !== undefined) continue
    unit.changes.push(...claimed.changes, ...item.changes)
    for (const runId of claimed.cancelledAtBirth) cancelAtBirth(unit.changes, runId)
    unit.started.push(item)
  }
  return unit
}

/** The refusal of a start for which a singleton has a live run. */
function alreadyRunning(run: Pick<Run, 'app' | 'workflow'>, liveRunId: string): EngineError {
  const details = { liveRunId: shownRunId(liveRunId) }
  return new EngineError('already_running', alreadyRunningText(run, liveRunId), { details })
}

/** Says that a singleton has a live run, for which nothing was started. */
export function alreadyRunningText({ app, workflow }: Pick<Run, 'app' | 'workflow'>, liveRunId: string): string {
  return `Workflow "${workflow}" of app "${app}" is a singleton, and its run ${shownRunId(liveRunId)} is live: nothing was started.`
}

/** Adds the effects of the policy to the unit. Returns the live run for which nothing is started, if there is one. */
function claim(mode: 'skip' | 'cancel', of: Key, at: { known: Known; unit: SingletonClaim }): string | undefined {
  const live = liveRunsWithKey(of, at)
  if (mode === 'skip' && live[0] !== undefined) return live[0]
  for (const runId of live) cancelLive(runId, at)
  return undefined
}

/** The key in `Assumptions.live` of the runs that share a singleton key. */
export function liveKey(of: Key): string {
  return JSON.stringify([of.namespace, of.app, of.workflow, of.key])
}

/** Ids of the live runs with the key: the durable ones, which are guarded, and those that the unit creates, without those that it ends. */
function liveRunsWithKey(of: Key, { known, unit }: { known: Known; unit: SingletonClaim }): string[] {
  const { assumptions, drafted, cancelled } = known
  const durable = assumptions.live.get(liveKey(of)) ?? []
  unit.guards.push({ type: 'live', ...of, runIds: durable })
  const created = drafted.changes.flatMap(change =>
    change.type === 'run.created' && hasKey(change.run, of) && !change.run.cancelRequested ? [change.run.id] : [],
  )
  return [...durable, ...created].filter(id => !cancelled.has(id) && !hasEnded(id, drafted))
}

function hasKey(run: Run, of: Key): boolean {
  return run.workflow === of.workflow && run.app === of.app && run.singletonKey === of.key
}

/** Whether the unit so far ends the run. */
function hasEnded(runId: string, { self, changes }: Known['drafted']): boolean {
  if (self?.id === runId) return self.cancelRequested === true
  return changes.some(
    change =>
      (change.type === 'run.moved' && change.run.id === runId && isTerminal(change.run.status)) ||
      (change.type === 'run.cancelRequested' && change.runId === runId),
  )
}

function cancelLive(runId: string, { known, unit }: { known: Known; unit: SingletonClaim }): void {
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
  // The run has ended since. Then the guard on the live runs does not hold either, and they are read again.
  if (isTerminal(state.run.status)) return
  const { guards, changes } = cancel(state, { now, catalog })
  unit.guards.push(...guards)
  unit.changes.push(...changes.map(interruptingPass))
}
