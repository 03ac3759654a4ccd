// How runs come into being: started by an event, as a child, or after a failure (contract §2.1, decisions "Run").

import type { StepError } from '@perdure/protocol'
import type { Event } from './event.ts'
import { derivedId } from './ids.ts'
import type { JsonText } from './json-text.ts'
import type { Run } from './run.ts'
import type { Workflow } from './workflow.ts'

type Origin = Pick<Run, 'namespace' | 'id' | 'workflow' | 'app' | 'triggerKind' | 'trigger' | 'createdAt'> &
  Partial<Run>

function queued(origin: Origin): Run {
  return {
    status: 'queued',
    attempt: 1,
    transportTries: 0,
    fence: 0,
    availableAt: origin.createdAt,
    ...origin,
  }
}

/** The run an event starts for a workflow whose trigger it matched; pinned when the event names a runner. */
export function eventRun(options: { event: Event; workflow: Workflow; pin?: string | undefined }): Run {
  const { event, workflow, pin } = options
  return queued({
    namespace: event.namespace,
    id: derivedId('run', event.receivedAt, event.id, workflow.app, workflow.name),
    workflow: workflow.name,
    app: workflow.app,
    triggerKind: 'event',
    eventName: event.name,
    eventId: event.id,
    trigger: { id: event.id, name: event.name },
    createdAt: event.receivedAt,
    ...(event.data === undefined ? {} : { input: event.data }),
    ...(pin === undefined ? {} : { runner: pin }),
  })
}

/** The child of a RunWorkflow step. It inherits the parent's pin only within the same app (contract §4.3). */
export function childRun(options: {
  parent: Run
  step: { id: string; index: number }
  app: string
  workflow: string
  input: JsonText | undefined
  now: number
}): Run {
  const { parent, step, app, workflow, input, now } = options
  return queued({
    namespace: parent.namespace,
    id: derivedId('run', now, parent.id, step.id),
    workflow,
    app,
    triggerKind: parent.triggerKind,
    trigger: { name: workflow },
    parentRunId: parent.id,
    parentStepIndex: step.index,
    createdAt: now,
    ...(input === undefined ? {} : { input }),
    ...(parent.runner !== undefined && parent.app === app ? { runner: parent.runner } : {}),
  })
}

/** The run that follows a failed one whose workflow has an onFailure handler: same event, same input. */
export function onFailureRun(failed: Run, error: StepError, now: number): Run {
  return queued({
    namespace: failed.namespace,
    id: derivedId('run', now, failed.id, 'on-failure'),
    workflow: failed.workflow,
    app: failed.app,
    triggerKind: failed.triggerKind,
    trigger: failed.trigger,
    parentRunId: failed.id,
    failure: error,
    createdAt: now,
    ...(failed.input === undefined ? {} : { input: failed.input }),
    ...(failed.runner === undefined ? {} : { runner: failed.runner }),
  })
}

/** A fork of a finished run (replay, retry-from-step): its own id, the same work (contract §3). */
export function forkedRun(options: {
  source: Run
  id: string
  input: JsonText | undefined
  now: number
}): Run {
  const { source, id, input, now } = options
  return queued({
    namespace: source.namespace,
    id,
    workflow: source.workflow,
    app: source.app,
    triggerKind: source.triggerKind,
    trigger: source.trigger,
    replayOf: source.id,
    createdAt: now,
    ...(source.eventName === undefined ? {} : { eventName: source.eventName }),
    ...(source.cron === undefined ? {} : { cron: source.cron }),
    ...(source.failure === undefined ? {} : { failure: source.failure }),
    ...(input === undefined ? {} : { input }),
    ...(source.runner === undefined ? {} : { runner: source.runner }),
  })
}
