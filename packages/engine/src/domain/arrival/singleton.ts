// Singleton: one live run per workflow and key (docs/flow-control.md#singleton). A start that meets a live run is skipped, or
// cancels that run in the commit that creates its own, so there are never two. For events it is a policy of their arrival;
// starts by callers, schedules, parents and forks call `claimSingleton`. On-failure runs have no key, because they clean up.

import { EventSubject } from '../expressions/event-subject.ts'
import { dropKeyOf } from '../expressions/matching.ts'
import type { Change, Guard } from '../model/change.ts'
import type { Question, UnitWithQuestions } from '../model/decision.ts'
import { EngineError } from '../model/errors.ts'
import { INBOX_EVENTS_MAX } from '../model/event.ts'
import { type Run, runKind } from '../model/run.ts'
import type { Under } from '../run/create.ts'
import { shownRunId } from '../text/ids.ts'
import {
  addStart,
  cancelLive,
  type Drafted,
  emptyClaim,
  type LiveClaim,
  type LiveFacts,
  type LiveKey,
  liveRunsWithKey,
} from './live/live-runs.ts'
import { type Arrival, type ArrivalInput, dropKey, type Policy } from './policy.ts'

export const singleton: Policy = (input, arrival) => {
  const { event, workflow } = input
  const policy = workflow.flowControl?.singleton
  if (!policy) return undefined
  const key = dropKey('singleton', policy.key, { input, arrival })
  if (key === undefined) return undefined
  const of = { namespace: event.namespace, app: workflow.app, workflow: workflow.name, key }
  const liveRunId = claim(policy.mode, of, { known: input, unit: arrival })
  if (liveRunId !== undefined && policy.mode === 'deliver') return deliver(liveRunId, input, arrival)
  if (liveRunId !== undefined) return { skipped: true, liveRunId }
  if (arrival.questions.length > 0) return {}
  arrival.singletonKey = key
  return undefined
}

/** Puts the event into the inbox of the live run. @throws EngineError `conflict` if a caller sends it and the inbox is full. */
function deliver(liveRunId: string, input: ArrivalInput, arrival: Arrival): ReturnType<Policy> {
  const { event, workflow, pin: runner, attributes, trace, engineEvents, assumptions } = input
  if (assumptions.full.has(liveRunId)) {
    const message = `Run ${shownRunId(liveRunId)} of workflow "${workflow.name}" of app "${workflow.app}" has ${INBOX_EVENTS_MAX} delivered events, the maximum for one run.`
    if (event.source === 'api')
      throw new EngineError('conflict', message, {
        details: { limit: INBOX_EVENTS_MAX, liveRunId: shownRunId(liveRunId) },
      })
    arrival.warnings.push(`${message} This event was not delivered.`)
    return { skipped: true, liveRunId }
  }
  const sent = { runner, attributes, trace, engineEvents }
  arrival.guards.push({ type: 'inboxRoom', runId: liveRunId })
  arrival.changes.push({ type: 'event.delivered', runId: liveRunId, eventId: event.id, sent })
  arrival.changes.push({ type: 'run.marked', runId: liveRunId, mark: 'delivered' })
  return { delivered: true, liveRunId }
}

/** A start without an event of the log, and the unit to which it belongs. */
export interface SingletonStart extends Under, Pick<LiveFacts, 'assumptions' | 'now' | 'catalog'> {
  drafted?: Drafted
}

/**
 * Gives the new run the singleton key of its workflow, if the workflow has the policy and the run does not clean up after
 * another. The key is evaluated over the event in the run's invokes. Nothing of the start may be committed if the claim names a
 * live run.
 */
export function claimSingleton(run: Run, start: SingletonStart): LiveClaim {
  const unit = emptyClaim()
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

/** The unit of a run that starts alone, with the claim of its key first. @throws EngineError `already_running`. */
export function startAlone(
  { run, changes }: NewRun,
  start: Omit<SingletonStart, 'drafted'>,
  byKey: LiveClaim = emptyClaim(),
): UnitWithQuestions {
  const { guards, changes: cancelled, questions, liveRunId } = claimSingleton(run, { ...start, drafted: byKey })
  if (liveRunId !== undefined) throw alreadyRunning(run, liveRunId)
  return {
    guards: [...byKey.guards, ...guards],
    changes: [...byKey.changes, ...cancelled, ...changes],
    questions: [...byKey.questions, ...questions],
  }
}

/** The unit of runs that start together, each as if the earlier ones were durable. Runs that a singleton skips are left out. */
export function startTogether<Item extends NewRun>(
  items: readonly Item[],
  startOf: (item: Item) => Omit<SingletonStart, 'drafted'>,
): UnitWithQuestions & { started: Item[] } {
  const unit = { guards: [] as Guard[], changes: [] as Change[], questions: [] as Question[], started: [] as Item[] }
  for (const item of items) {
    const claimed = claimSingleton(item.run, { ...startOf(item), drafted: unit })
    unit.guards.push(...claimed.guards)
    unit.questions.push(...claimed.questions)
    if (claimed.liveRunId !== undefined) continue
    addStart(unit.changes, claimed, item.changes)
    unit.started.push(item)
  }
  return unit
}

/** The error of a start that a singleton refuses because of a live run. */
function alreadyRunning(run: Pick<Run, 'app' | 'workflow'>, liveRunId: string): EngineError {
  const details = { liveRunId: shownRunId(liveRunId) }
  return new EngineError('already_running', alreadyRunningText(run, liveRunId), { details })
}

/** Explains that a singleton has a live run, so nothing was started. */
export function alreadyRunningText({ app, workflow }: Pick<Run, 'app' | 'workflow'>, liveRunId: string): string {
  return `Workflow "${workflow}" of app "${app}" is a singleton, and its run ${shownRunId(liveRunId)} is live: nothing was started.`
}

/** Adds the effects of the policy to the unit. Returns the live run that prevents the start, if there is one. */
function claim(
  mode: 'skip' | 'cancel' | 'deliver',
  key: Omit<LiveKey, 'type'>,
  at: { known: LiveFacts; unit: LiveClaim },
): string | undefined {
  // A run with a requested cancel still takes events: otherwise its end would start a second run with the key.
  const live = liveRunsWithKey({ type: mode === 'deliver' ? 'unended' : 'live', ...key }, at)
  if (mode !== 'cancel' && live[0] !== undefined) return live[0]
  for (const runId of live) cancelLive(runId, at)
  return undefined
}
