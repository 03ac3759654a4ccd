// Decides the effects of an event (docs/events.md#send-an-event): it cancels the runs that watch for it, wakes the steps that
// wait for it, and triggers workflows. Posted, emitted and dry-run events all use this one decision.

import { EventSubject } from '../expressions/event-subject.ts'
import { isAwaited, type Report, unmetTrigger } from '../expressions/matching.ts'
import type { CatalogView } from '../model/catalog.ts'
import type { Change, Guard } from '../model/change.ts'
import type { Question, UnitWithQuestions } from '../model/decision.ts'
import {
  type Carried,
  type Event,
  isSameWorkflow,
  type Triggered,
  type UndecidedEvent,
  type Waiter,
  type WorkflowName,
} from '../model/event.ts'
import { isTerminal } from '../model/run.ts'
import type { StepWoken } from '../model/step.ts'
import type { Workflow } from '../model/workflow.ts'
import { type Assumptions, catalogGuards, registeredGuards } from '../run/assumptions.ts'
import type { JsonText } from '../text/json-text.ts'
import { signalOf } from '../text/name.ts'
import { cancelWatching } from './cancel-on.ts'
import { waitersFor } from './live/found.ts'
import type { Drafted } from './live/live-runs.ts'
import { DecidedDraft } from './record/decided.ts'
import { triggerWorkflow } from './trigger-workflow.ts'

export interface Fanout extends UnitWithQuestions {
  /** Not among `changes`: a run may be woken by its own event. */
  wakes: StepWoken[]
  woke: number
  /** Number of runs whose waits the event was compared with. */
  waited: number
  triggered: Triggered[]
  /** Policies that do not apply to the event because their key cannot be evaluated, one sentence each. */
  warnings: string[]
  /** The namespace is suspended, so nothing was triggered. */
  suspended: boolean
  /** The event cancels the run that emits it. That run's own decision must end it. */
  cancelsSelf: boolean
  /** Runs that `drafted` creates and the event cancels: they must be created with the request to cancel. */
  cancelledAtBirth: string[]
}

export interface FanoutInput extends Carried {
  event: UndecidedEvent
  targetApp?: string | undefined
  /** The workflow that the event does not start. */
  notFor?: WorkflowName | undefined
  catalog: CatalogView
  /** Assumed waiters and watchers of the event name, and assumed flow-control rows. */
  assumptions: Assumptions
  /** The waiters (by `waiterKey`) that an earlier event of the same unit has woken. */
  alreadyWoken?: ReadonlySet<string>
  /** The unit so far, for an event that a run emits in it. */
  drafted?: Drafted
  /** A name of the event that stays the same when the event is decided again. Absent: its id. */
  origin?: string | undefined
  /** Receives expressions that could not be evaluated. */
  report: Report
  /** When the event is decided, if that is later than its arrival: a wait may have begun in between. */
  now?: number | undefined
}

export function waiterKey(waiter: { runId: string; stepIndex: number }): string {
  return `${waiter.runId}#${waiter.stepIndex}`
}

export function fanout(input: FanoutInput): Fanout {
  const {
    assumptions,
    catalog,
    report,
    pin,
    attributes,
    trace,
    engineEvents,
    drafted = NOTHING,
    now = input.event.receivedAt,
  } = input
  const { id } = input.event
  const triggered: Triggered[] = []
  const warnings: string[] = []
  const event = recordOf(input.event, triggered)
  const subject = new EventSubject(event)
  const found = waitersFor(event, subject, assumptions)
  const waiters = found.rows
  const cancelled = cancelWatching({ event, subject, assumptions, drafted, now, report })
  const guards: Guard[] = [...found.guards, ...cancelled.guards]
  guards.push(...catalogGuards(catalog, assumptions))
  const changes: Change[] = [{ type: 'event.recorded', event }, ...cancelled.changes]
  const questions: Question[] = [...found.questions, ...cancelled.questions]
  const cancelledAtBirth = cancelled.atBirth
  let { cancelsSelf } = cancelled
  const decided = new DecidedDraft()
  for (const workflow of scopedTo(input)) {
    const unmet = unmetTrigger(workflow, subject, report)
    if (unmet) {
      decided.unmet(workflow, unmet)
      continue
    }
    const { origin = id } = input
    const own = { origin, cancelled: cancelled.runIds, drafted }
    const arrival = triggerWorkflow({
      event,
      subject,
      workflow,
      pin,
      attributes,
      trace,
      engineEvents,
      catalog,
      assumptions,
      now,
      report,
      ...own,
    })
    guards.push(...registeredGuards(assumptions, workflow), ...arrival.guards)
    changes.push(...arrival.changes)
    questions.push(...arrival.questions)
    cancelledAtBirth.push(...arrival.cancelledAtBirth)
    cancelsSelf ||= arrival.cancelsSelf === true
    const { entry } = arrival
    if (workflow.pausedAt !== undefined && entry.runId !== undefined) entry.isPaused = true
    triggered.push(entry)
    warnings.push(...arrival.warnings)
  }
  const wakes = waiters.length === 0 ? [] : wakesOf({ ...input, now, event, subject, waiters, changes })
  const woken = firstOfRuns(wakes)
  event.woke = woken.length
  const { suspended } = catalog
  for (const warning of warnings) decided.warning(warning)
  const waited = waiters.length === 0 ? 0 : new Set(waiters.map(({ runId }) => runId)).size
  if (waited > 0) decided.waits(woken, waited)
  if (suspended) decided.suspended()
  decided.sentWith({ targetApp: input.targetApp, runner: pin, attributes, notFor: input.notFor })
  if (decided.decided) event.decided = decided.decided
  const outcome = { guards, questions, changes, wakes, woke: woken.length, waited, triggered, warnings }
  return { ...outcome, suspended, cancelsSelf, cancelledAtBirth }
}

const NOTHING: Drafted = { changes: [] }

/** Copies field by field: this runs for every event, and a spread costs as much as the rest of `fanout`. */
function recordOf(given: UndecidedEvent, triggered: Triggered[]): Event {
  return {
    namespace: given.namespace,
    id: given.id,
    name: given.name,
    app: given.app,
    source: given.source,
    scheduledAt: given.scheduledAt,
    receiverId: given.receiverId,
    runId: given.runId,
    data: given.data,
    receivedAt: given.receivedAt,
    generation: given.generation,
    woke: 0,
    triggered,
  }
}

/** A wake for each wait that the event meets, except in runs that the event or the earlier part of the unit ends. */
function wakesOf(
  input: FanoutInput & {
    now: number
    subject: EventSubject
    waiters: readonly Waiter[]
    changes: readonly Change[]
  },
): StepWoken[] {
  const { event, now, subject, waiters, alreadyWoken, drafted = NOTHING, report } = input
  const ended = endedBy([...drafted.changes, ...input.changes])
  const isMet = (waiter: Waiter) => isAwaited(waiter, subject, report)
  const isFree = (waiter: Waiter) => !alreadyWoken?.has(waiterKey(waiter)) && !ended.has(waiter.runId)
  const woken = waiters.filter(waiter => isFree(waiter) && isMet(waiter))
  const data = woken.length === 0 ? undefined : eventResult(event)
  return woken.map(({ runId, stepIndex }) => ({
    type: 'step.woken',
    runId,
    stepIndex,
    status: 'succeeded',
    ...(data === undefined ? {} : { data }),
    eventId: event.id,
    at: now,
  }))
}

/** Ids of the runs that the changes end or request to cancel. */
function endedBy(changes: readonly Change[]): ReadonlySet<string> {
  const ended = new Set<string>()
  for (const change of changes) {
    if (change.type === 'run.cancelRequested') ended.add(change.runId)
    else if (change.type === 'run.moved' && isTerminal(change.run.status)) ended.add(change.run.id)
  }
  return ended
}

/** The result of a wait that the event settles (docs/events.md#waits). */
export function eventResult(event: Pick<Event, 'id' | 'name' | 'source' | 'data' | 'receivedAt'>): JsonText {
  const name = signalOf(event.name) ?? event.name
  const data = event.data === undefined ? '' : `,"data":${event.data}`
  const receivedAt = new Date(event.receivedAt).toISOString()
  const update = event.source === 'update' ? ',"isUpdate":true' : ''
  return `{"id":"${event.id}","name":${JSON.stringify(name)}${data},"receivedAt":"${receivedAt}"${update}}`
}

/** Any workflow that the event triggers, whatever its policies then decide; undefined if there is none. */
export function anyTriggered(
  input: Pick<FanoutInput, 'catalog' | 'report'> & { event: UndecidedEvent },
): Workflow | undefined {
  const subject = new EventSubject(recordOf(input.event, []))
  return scopedTo(input).find(workflow => !unmetTrigger(workflow, subject, input.report))
}

/** The workflows with a trigger for the event's name, within its scope. None while the namespace is suspended. */
export function scopedTo(input: Pick<FanoutInput, 'catalog' | 'event' | 'targetApp' | 'notFor'>): readonly Workflow[] {
  if (input.catalog.suspended) return []
  const scope = scopeOf(input.event, input.targetApp)
  const all = input.catalog.triggeredBy(input.event.name)
  const inScope = scope === undefined ? all : all.filter(workflow => workflow.app === scope)
  return input.notFor ? inScope.filter(workflow => !isSameWorkflow(workflow, input.notFor)) : inScope
}

/**
 * The app that the event is limited to: `targetApp` if given, else its own app. An event of a run has its run's app and is a
 * broadcast.
 */
export function scopeOf({ source, app }: Pick<Event, 'source' | 'app'>, targetApp?: string): string | undefined {
  return targetApp ?? (source === 'emit' || source === 'engine' ? undefined : app)
}

/** The first wake of each run. */
function firstOfRuns(wakes: readonly StepWoken[]): readonly StepWoken[] {
  if (wakes.length < 2) return wakes
  const first = new Map<string, StepWoken>()
  for (const wake of wakes) if (!first.has(wake.runId)) first.set(wake.runId, wake)
  return [...first.values()]
}
