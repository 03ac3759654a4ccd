// Creates runs: started by an event, a schedule or a caller, as a child, after a failure, or as a fork
// (docs/concepts.md#where-runs-come-from).

import { asThrownError, type RunError } from '@perdure/protocol'
import type { Report } from '../expressions/matching.ts'
import { attributed, inheritedAttributes } from '../expressions/new-attributes.ts'
import { nextGeneration } from '../holds/generations.ts'
import { holdsOf, storedPriority } from '../holds/holds.ts'
import { handOverToCleanup, underAncestors } from '../holds/kept-slots.ts'
import type { Attributes } from '../model/attributes.ts'
import type { Carried, DeliveredEvent, Event } from '../model/event.ts'
import { type CollectedEvents, type Run, runKind } from '../model/run.ts'
import type { Workflow } from '../model/workflow.ts'
import { derivedId, rankedId } from '../text/ids.ts'
import type { JsonText } from '../text/json-text.ts'
import { timestamp } from '../text/timestamp.ts'
import type { Traceparent } from '../text/traceparent.ts'
import { budgetsOf, inherited, passedOn } from './budget/budgets.ts'

type Origin = Pick<Run, 'namespace' | 'id' | 'workflow' | 'app' | 'triggerKind' | 'trigger' | 'createdAt'> &
  Partial<Run>

/** The workflow whose flow control applies to a new run, and the receiver of expressions that fail. */
export interface Under {
  /** Absent when the workflow is not registered: nothing holds the run. */
  workflow: Workflow | undefined
  report?: Report | undefined
}

function queued(origin: Origin, { workflow, report = () => {} }: Under): Run {
  return {
    status: 'queued',
    attempt: 1,
    transportTries: 0,
    fence: 0,
    availableAt: origin.createdAt,
    // Present from the start, so that the object's shape never changes: copies and changes are then cheap.
    leaseOwner: undefined,
    waitingFor: undefined,
    cancelRequested: undefined,
    startedAt: undefined,
    startedSeq: undefined,
    finishedAt: undefined,
    finishedSeq: undefined,
    result: undefined,
    error: undefined,
    ...origin,
    ...(workflow ? holdsOf(origin, workflow, report) : {}),
    ...budgetsOf(origin, workflow),
    ...(workflow?.flowControl?.cancelOn ? { cancelOn: workflow.flowControl.cancelOn } : {}),
  }
}

/** A new run with the attributes from its workflow's registration. */
function queuedAnew(origin: Origin, under: Under): Run {
  return queued(attributed(origin, under.workflow, under.report ?? (() => {})), under)
}

const UNHELD: Under = { workflow: undefined }

/** The named fields of the run, without absent ones. */
function copied<Name extends keyof Run>(run: Run, ...names: Name[]): Pick<Run, Name> {
  const present = names.filter(name => run[name] !== undefined)
  return Object.fromEntries(present.map(name => [name, run[name]])) as Pick<Run, Name>
}

/** The fields that every later run of the same work has. */
const WORK = [
  'namespace',
  'workflow',
  'app',
  'triggerKind',
  'trigger',
  'eventIds',
  'generation',
  'engineEvents',
  'attributes',
] as const

/** The fields of an event that make a run. */
export type TriggeringEvent = Pick<Event, 'namespace' | 'id' | 'name' | 'data' | 'receivedAt' | 'generation'>

/** An event that starts a run, and what the run gets with it. */
interface EventStart extends Carried {
  event: TriggeringEvent
  workflow: Pick<Workflow, 'app' | 'name'>
  singletonKey?: string | undefined
  /** The events of the buffer that became the run. */
  eventIds?: string[] | undefined
  /** The events whose payloads are the list `event.data`. */
  collected?: CollectedEvents | undefined
  /** The id and the time of a run that starts later than the event arrives. */
  later?: { id: string; now: number } | undefined
}

/** The run that an event starts for a workflow with a matching trigger; pinned if the event names a runner. */
export function eventRun(start: EventStart & { workflow: Workflow; report?: Report | undefined }): Run {
  return queuedAnew(eventOrigin(start), start)
}

function eventOrigin(start: EventStart): Origin {
  const { event, workflow, pin, trace, singletonKey, eventIds, collected, attributes, engineEvents, later } = start
  return {
    namespace: event.namespace,
    id: later?.id ?? derivedId('run', event.receivedAt, event.id, workflow.app, workflow.name),
    workflow: workflow.name,
    app: workflow.app,
    triggerKind: 'event',
    eventName: event.name,
    eventId: event.id,
    trigger: { id: event.id, name: event.name },
    createdAt: later?.now ?? event.receivedAt,
    ...(event.data === undefined ? {} : { input: event.data }),
    ...(event.generation === undefined ? {} : { generation: event.generation }),
    ...(engineEvents === undefined ? {} : { engineEvents }),
    ...(pin === undefined ? {} : { runner: pin }),
    ...(trace === undefined ? {} : { trace }),
    ...(singletonKey === undefined ? {} : { singletonKey }),
    ...(eventIds === undefined ? {} : { eventIds }),
    ...(collected === undefined ? {} : { collected }),
    ...(attributes === undefined ? {} : { attributes }),
  }
}

/** The run that starts with an event from the inbox of a run that has ended. It takes over the inbox and the singleton key. */
export function deliveredRun(
  ended: Run,
  { event, sent }: DeliveredEvent,
  { inbox, now, under }: { inbox: string; now: number; under: Under },
): Run {
  const { namespace, app, workflow: name, singletonKey } = ended
  const { runner: pin, ...carried } = sent
  const later = { id: derivedId('run', now, event.id, app, name), now }
  const start = { event: { ...event, namespace }, workflow: { app, name }, pin, ...carried, singletonKey, later }
  return queuedAnew({ ...eventOrigin(start), inbox }, under)
}

/** The run that a caller starts directly. Its handler receives an event with the workflow's name; no such event is recorded. */
export function directRun(options: {
  workflow: Workflow
  id: string
  now: number
  input?: JsonText | undefined
  attributes?: Attributes | undefined
  trace?: Traceparent | undefined
  startKey?: string | undefined
  /** Absent: at once. */
  startAt?: number | undefined
  /** The run whose step starts it. */
  starter?: { run: Run; stepName: string } | undefined
  report?: Report | undefined
}): Run {
  const { workflow, id, now, input, attributes, trace, startKey, startAt = now, starter } = options
  const origin: Origin = {
    namespace: workflow.namespace,
    id,
    workflow: workflow.name,
    app: workflow.app,
    triggerKind: 'event',
    trigger: { name: workflow.name },
    createdAt: now,
    ...(input === undefined ? {} : { input }),
    ...(trace === undefined ? {} : { trace }),
    ...(attributes === undefined ? {} : { attributes }),
    ...(startKey === undefined ? {} : { startKey }),
    ...(starter ? startedIn(starter) : {}),
  }
  if (startAt <= now) return queuedAnew(origin, options)
  const later = { startAt, availableAt: startAt, waitingFor: { kind: 'sleep', until: startAt } } as const
  return { ...queuedAnew({ ...origin, startAt }, options), ...later }
}

/** The fields that a run gets from the run whose step started it. */
function startedIn({ run, stepName }: { run: Run; stepName: string }): Partial<Run> {
  return {
    startedBy: { runId: run.id, stepName },
    generation: nextGeneration(run),
    ...(run.engineEvents === undefined ? {} : { engineEvents: run.engineEvents }),
    ...(run.trace === undefined ? {} : { trace: run.trace }),
  }
}

/** Name of the event that a scheduled run's handler receives. */
const CRON_EVENT = 'engine/cron'

/** The run that a schedule starts for the instant `scheduledAt`. */
export function cronRun(options: {
  workflow: Workflow
  cron: string
  scheduledAt: number
  /** The last earlier instant for which a run started, if there is one. */
  previousAt?: number | undefined
  now: number
  report?: Report | undefined
}): Run {
  const { workflow, cron, scheduledAt, previousAt = Number.POSITIVE_INFINITY, now } = options
  const { namespace, app, name } = workflow
  const origin: Origin = {
    namespace,
    id: derivedId('run', now, namespace, app, name, cron, String(scheduledAt)),
    workflow: name,
    app,
    triggerKind: 'cron',
    cron,
    trigger: { name: CRON_EVENT },
    input: JSON.stringify({
      cron,
      scheduledAt: timestamp(scheduledAt),
      // After the clock was set back, the last instant may be later.
      ...(previousAt < scheduledAt && { previousAt: timestamp(previousAt) }),
    }),
    createdAt: now,
  }
  return queuedAnew(origin, options)
}

/** The child of a RunWorkflow step. It inherits the parent's pin only within the same app (docs/concepts.md#children). */
export function childRun(options: {
  parent: Run
  step: { id: string; index: number }
  app: string
  workflow: string
  input: JsonText | undefined
  /** Replaces the priority that the workflow gives the child. */
  priority?: number | undefined
  now: number
  under: Under
}): Run {
  const { parent, step, app, workflow, input, priority, now, under } = options
  const attributes = inheritedAttributes(parent, under.workflow)
  const origin: Origin = {
    namespace: parent.namespace,
    // Children of one pass are queued in the order of its steps.
    id: rankedId('run', now, step.index, parent.id, step.id),
    workflow,
    app,
    triggerKind: parent.triggerKind,
    trigger: { name: workflow },
    parentRunId: parent.id,
    parentStepIndex: step.index,
    generation: nextGeneration(parent),
    ...(parent.engineEvents === undefined ? {} : { engineEvents: parent.engineEvents }),
    createdAt: now,
    ...(input === undefined ? {} : { input }),
    ...(parent.runner !== undefined && parent.app === app ? { runner: parent.runner } : {}),
    ...(parent.trace === undefined ? {} : { trace: parent.trace }),
    ...inherited(parent),
    ...(attributes === undefined ? {} : { attributes }),
  }
  const child = queuedAnew(origin, under)
  const { priority: ofWorkflow, ...others } = { ...child, ...underAncestors(parent, child.holds) }
  return { ...others, ...storedPriority(priority ?? ofWorkflow ?? 0) }
}

/**
 * The run that follows a failed run whose workflow has an onFailure handler: same event, input, priority, attributes and pin.
 * It drops the pin if the run failed because that runner is not registered. No hold delays the run and no timeout ends it,
 * since it cleans up (docs/concepts.md#on-failure-runs).
 */
export function onFailureRun(failed: Run, error: RunError, now: number): Run {
  const id = derivedId('run', now, failed.id, 'on-failure')
  return queued({ ...followOn(failed, { id, error, now }), failure: asThrownError(error) }, UNHELD)
}

/**
 * The run that cleans up after a failed or cancelled run: like an on-failure run, and it keeps the slots of the run that it
 * follows (docs/concepts.md#cleanup-runs).
 */
export function cleanupRun(ended: Run, { error, now }: { error: RunError | undefined; now: number }): Run {
  const id = cleanupRunId({ id: ended.id, finishedAt: now })
  const run = queued({ ...followOn(ended, { id, error, now }), cleanupOf: ended.id }, UNHELD)
  return { ...run, ...handOverToCleanup(ended) }
}

/** The id of the cleanup run of an ended run, if there is such a run. */
export function cleanupRunId({ id, finishedAt = 0 }: Pick<Run, 'id' | 'finishedAt'>): string {
  return derivedId('run', finishedAt, id, 'cleanup')
}

/** The fields of a run that follows the end of another. */
function followOn(ended: Run, { id, error, now }: { id: string; error: RunError | undefined; now: number }): Origin {
  return {
    ...copied(ended, ...WORK, 'input', 'collected', 'trace', 'priority'),
    ...(error?.code === 'runner_not_registered' ? {} : copied(ended, 'runner')),
    id,
    parentRunId: ended.id,
    createdAt: now,
  }
}

/**
 * A fork of a finished run (replay, retry-from-step): a new id, the same work, with the holds of the workflow's current
 * definition. `trace` is the trace of the request; without it the fork gets its own trace.
 */
export function forkedRun(options: {
  source: Run
  id: string
  input: JsonText | undefined
  now: number
  under: Under
  trace?: Traceparent | undefined
}): Run {
  const { source, id, input, now, under, trace } = options
  const origin: Origin = {
    ...copied(source, ...WORK, 'eventName', 'cron', 'failure', 'cleanupOf', 'runner'),
    ...(input === source.input ? copied(source, 'collected') : {}),
    id,
    replayOf: source.id,
    createdAt: now,
    ...(input === undefined ? {} : { input }),
    ...(trace === undefined ? {} : { trace }),
  }
  return queued(origin, runKind(source) === 'run' ? under : UNHELD)
}

/**
 * The next run of the chain of a run that continues: the same work with other data, under the workflow's newest definition. It
 * has the pin, the priority, the keys and the trace of the run, and answers the run's parent. It does not count as a
 * generation.
 */
export function linkRun(
  from: Run,
  { input, now, under }: { input: JsonText | undefined; now: number; under: Under },
): Run {
  const origin: Origin = {
    ...copied(from, ...WORK, 'eventName', 'cron', 'failure', 'cleanupOf', 'runner', 'trace'),
    ...copied(from, 'parentRunId', 'parentStepIndex', 'singletonKey', 'startKey', 'inbox'),
    id: derivedId('run', now, from.id, 'continued'),
    continuedFrom: from.id,
    chainId: from.chainId ?? from.id,
    createdAt: now,
    ...passedOn(from),
    ...(input === undefined ? {} : { input }),
    ...(from.awaited ? { awaited: true } : {}),
    ...(from.signalled ? { signalled: true } : {}),
  }
  const { priority: _, ...link } = queued(origin, runKind(from) === 'run' ? under : UNHELD)
  return from.priority === undefined ? link : { ...link, priority: from.priority }
}
