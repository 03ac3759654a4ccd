// What each opcode of a pass becomes (contract §2.11, "the service rules"). All of them are drafted, so that one
// commit persists all or none; the caller decides what follows.

import type { RunError, StepError } from '@perdure/protocol'
import { eventResult, fanout, waiterKey } from '../../arrival/fanout.ts'
import { compiled } from '../../expressions/compiled.ts'
import { ExpressionError } from '../../expressions/expression.ts'
import { EventSubject, verdictOf } from '../../expressions/matching.ts'
import type { Event } from '../../model/event.ts'
import type { Step } from '../../model/step.ts'
import { stepErrorOf } from '../../model/step.ts'
import {
  catalogGuards,
  noLaterEvent,
  noteWritten,
  type OwnAssumptions,
  ownAssumptions,
} from '../../run/assumptions.ts'
import { childRun } from '../../run/create.ts'
import type { Draft } from '../../run/draft.ts'
import { notifyStepFailed } from '../../run/notices.ts'
import { backoffMs, completeRetry } from '../../run/retry.ts'
import { isDue, type RunState } from '../../run/state.ts'
import { derivedId } from '../../text/ids.ts'
import type { JsonText } from '../../text/json-text.ts'
import { runTraceparent } from '../../text/traceparent.ts'
import type { PassContext } from '../context.ts'
import { EVENT_NAME_ERROR, isEventName, isWebhookUrl, WEBHOOK_URL_ERROR } from './names.ts'
import type { PassOpcode, PassOpcodeOf } from './read.ts'

/** The last moment of the year 9999: a timestamp has no fifth digit for a year. */
const TIME_MS_MAX = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

type NewStep = Parameters<Draft['record']>[0]

interface Pass {
  draft: Draft
  state: RunState
  context: PassContext
  /** Events emitted by this very pass that settled no wait of the run yet: a wait reported behind sees them. */
  emitted: Event[]
  /** Events taken by waits of this pass. */
  taken: Set<string>
  /** Waiters woken by emits of this pass. */
  spent: Set<string>
  /** What is known, with the flow-control rows that this pass has written. */
  assumptions: OwnAssumptions
}

/**
 * Drafts every new opcode. Opcodes of steps that are settled or parked already are repeats and change nothing.
 * Answers the error of the first step that failed terminally, if one did.
 */
export function applyOpcodes(
  draft: Draft,
  state: RunState,
  opcodes: readonly PassOpcode[],
  context: PassContext,
): RunError | undefined {
  const pass: Pass = {
    draft,
    state,
    context,
    emitted: [],
    taken: new Set(),
    spent: new Set(),
    assumptions: ownAssumptions(context.assumptions),
  }
  // Nearly every pass reports one step, which cannot repeat another.
  const seen = opcodes.length > 1 ? new Set<string>() : undefined
  let failure: RunError | undefined
  for (const opcode of opcodes) {
    const known = state.steps.get(opcode.id)
    if (seen?.has(opcode.id) || (known && !(opcode.op === 'StepRun' && isDue(known, context.sentAt))))
      continue
    seen?.add(opcode.id)
    if (opcode.op === 'StepRun') {
      const failed = runStep(pass, opcode, known)
      failure ??= failed
    } else OTHERS[opcode.op](pass, opcode as never)
  }
  return failure
}

/** A step attempt ended: well, to be retried, or for good. */
function runStep(pass: Pass, opcode: PassOpcodeOf<'StepRun'>, known: Step | undefined): RunError | undefined {
  const { draft, context } = pass
  if (!known && !opcode.error) {
    // What nearly every pass comes to.
    const { id, name, op } = opcode
    const { now: finishedAt } = draft
    const done: NewStep = {
      id,
      name,
      op,
      attempt: 1,
      startedAt: context.knowledge.asOf,
      status: 'succeeded',
      finishedAt,
    }
    if (opcode.data !== undefined) done.data = opcode.data
    draft.record(done)
    return undefined
  }
  const attempt = (known?.attempt ?? 0) + 1
  const write = (fields: Pick<Step, 'status'> & Partial<Step>) =>
    known
      ? draft.moveStep(known, { attempt, nextAttemptAt: undefined, ...fields })
      : draft.record({ ...begun(opcode, context.knowledge.asOf), attempt, ...fields })
  if (!opcode.error) {
    write({ status: 'succeeded', finishedAt: draft.now, error: undefined, ...data(opcode.data) })
    return undefined
  }
  const error = stepErrorOf(opcode.error)
  const policy =
    context.catalog.workflow(draft.run.app, draft.run.workflow)?.retry ?? completeRetry(undefined)
  if (opcode.retriable !== false && attempt < policy.maxAttempts) {
    const delay = opcode.retryAfterMs ?? backoffMs(policy, attempt, context.random())
    // Later than the pass itself: a retry that was due when a pass was sent, and did not come, never will.
    const nextAttemptAt = Math.max(draft.now + Math.ceil(delay), context.sentAt + 1)
    write({ status: 'retrying', error, nextAttemptAt })
    // One more for the pass, however many of its branches failed.
    draft.set({ attempt: context.sentAttempt + 1 })
    return undefined
  }
  notifyStepFailed(draft, write({ status: 'failed', finishedAt: draft.now, error }), context.catalog)
  return opcode.catchable ? undefined : { ...error, code: 'step_failed', stepName: opcode.name }
}

/** The engine resolves the wake time when it persists the sleep, so a repeated pass cannot lengthen it. */
function sleep(pass: Pass, opcode: PassOpcodeOf<'Sleep'>): void {
  parkedStep(pass, opcode, { wakeAt: pass.draft.now + Math.ceil(opcode.sleepMs) })
}

/** Stored verbatim, as far as a timestamp can say it; a target in the past wakes on the next cycle. */
function sleepUntil(pass: Pass, opcode: PassOpcodeOf<'SleepUntil'>): void {
  parkedStep(pass, opcode, { wakeAt: Math.min(TIME_MS_MAX, Math.max(0, Math.ceil(opcode.sleepUntilMs))) })
}

function waitForEvent(pass: Pass, opcode: PassOpcodeOf<'WaitForEvent'>): void {
  const { eventName, timeoutMs, if: condition } = opcode
  if (!isEventName(eventName)) {
    failedStep(pass, opcode, EVENT_NAME_ERROR)
    return
  }
  if (condition !== undefined) {
    const fault = filterFault(condition)
    if (fault !== undefined) {
      failedStep(pass, opcode, { name: 'WaitFilterError', message: `if ${fault}` })
      return
    }
  }
  const awaited = { eventName, ...(condition === undefined ? {} : { condition }) }
  const event = earlierEvent(pass, eventName, condition)
  if (event) {
    pass.taken.add(event.id)
    settledStep(pass, opcode, { ...awaited, ...received(event) })
    return
  }
  const wakeAt = timeoutMs === undefined ? {} : { wakeAt: pass.draft.now + Math.ceil(timeoutMs) }
  parkedStep(pass, opcode, { ...awaited, ...wakeAt })
}

/** Why a filter cannot be used, if it cannot. */
function filterFault(source: string): string | undefined {
  try {
    compiled(source, 'condition', { inWait: true })
    return undefined
  } catch (error) {
    if (error instanceof ExpressionError) return error.message
    throw error
  }
}

/**
 * The oldest event of that name since the run began that meets the filter, is not the run's own trigger, and that no
 * wait has taken. Unless the log has one, the decision rests on the log having no more; those of this very pass come
 * after it.
 */
function earlierEvent(pass: Pass, eventName: string, condition: string | undefined): Event | undefined {
  const { draft, state, context } = pass
  const isFree = (event: Event) =>
    event.id !== state.run.trigger.id &&
    !state.takenEvents.has(event.id) &&
    !pass.taken.has(event.id) &&
    isAwaited(pass, condition, event)
  const logged = context.assumptions.events.get(eventName)?.events.find(isFree)
  if (logged) return logged
  const { namespace, createdAt: since } = draft.run
  draft.guards.push(noLaterEvent({ assumptions: context.assumptions, namespace, eventName, since }))
  return pass.emitted.find(event => event.name === eventName && isFree(event))
}

/** Whether the event meets the filter of a wait of this run. One that fails does not, as with events to come. */
function isAwaited({ state }: Pass, condition: string | undefined, event: Event): boolean {
  if (condition === undefined) return true
  const { trigger, input } = state.run
  const began = new EventSubject({ ...trigger, data: input })
  const verdict = verdictOf(condition, { event: began.subject, async: new EventSubject(event).subject })
  return verdict.ok && verdict.value
}

function runWorkflow(pass: Pass, opcode: PassOpcodeOf<'RunWorkflow'>): void {
  const { draft, context } = pass
  draft.guards.push(...catalogGuards(context.catalog, context.assumptions))
  const app = childApp(pass, opcode)
  if (typeof app !== 'string') {
    failedStep(pass, opcode, app)
    return
  }
  const child = childRun({
    parent: draft.run,
    step: { id: opcode.id, index: draft.nextIndex },
    app,
    workflow: opcode.childName,
    input: opcode.data,
    now: context.now,
    under: { workflow: context.catalog.workflow(app, opcode.childName), report: context.report },
  })
  parkedStep(pass, opcode, { childRunId: child.id })
  draft.changes.push({ type: 'run.created', run: child })
}

/** The parent's app if it has the workflow, else the one other app that has it (decisions, "Registration"). */
function childApp(pass: Pass, opcode: PassOpcodeOf<'RunWorkflow'>): string | StepError {
  const { draft, context } = pass
  const apps = context.catalog.appsWith(opcode.childName)
  const wanted = opcode.childApp ?? (apps.includes(draft.run.app) ? draft.run.app : undefined)
  if (wanted !== undefined && apps.includes(wanted)) return wanted
  if (wanted === undefined && apps.length === 1) return apps[0] as string
  const problem =
    wanted !== undefined
      ? `App "${wanted}" has no workflow "${opcode.childName}".`
      : apps.length === 0
        ? `No app has a workflow "${opcode.childName}".`
        : `Several apps have a workflow "${opcode.childName}" (${apps.join(', ')}): name one.`
  return { name: 'ChildNotStartedError', message: problem }
}

/** Logged, fanned out and recorded in the pass's own commit: exactly once in effect. */
function emit(pass: Pass, opcode: PassOpcodeOf<'Emit'>): void {
  const { draft, context } = pass
  const { eventName } = opcode
  if (!isEventName(eventName)) {
    failedStep(pass, opcode, EVENT_NAME_ERROR)
    return
  }
  const { namespace, app, id: runId } = draft.run
  const id = derivedId('evt', context.now, runId, opcode.id)
  const source = 'emit' as const
  const event = {
    namespace,
    id,
    name: eventName,
    app,
    source,
    receivedAt: context.now,
    ...data(opcode.data),
  }
  const { catalog, report, now } = context
  const { assumptions: known, spent } = pass
  const drafted = { changes: draft.changes, self: draft.run }
  const effects = fanout({
    event,
    catalog,
    assumptions: known,
    spent,
    drafted,
    origin: opcode.id,
    report,
    now,
  })
  draft.questions.push(...effects.questions)
  draft.guards.push(...effects.guards)
  draft.changes.push(...effects.changes)
  noteWritten(known, effects.changes)
  if (effects.cancelsSelf) draft.set({ cancelRequested: true })
  for (const wake of effects.wakes) {
    spent.add(waiterKey(wake))
    if (wake.runId !== runId) draft.changes.push(wake)
  }
  // The run's own wait is settled in its own draft: a wake from outside would make this very unit stale.
  const logged = { ...event, woke: 0, triggered: [] }
  const own = firstWait(pass, logged)
  if (own) draft.moveStep(own, { ...received(event), status: 'succeeded', finishedAt: draft.now })
  else pass.emitted.push(logged)
  settledStep(pass, opcode, { data: `{"eventId":"${id}"}`, emittedEventId: id, eventName: event.name })
}

/** A custom send: a durable, unsigned delivery, written with the step that asked for it. */
function webhook(pass: Pass, opcode: PassOpcodeOf<'Webhook'>): void {
  const { draft, context } = pass
  const { webhookUrl: url } = opcode
  if (!isWebhookUrl(url)) {
    failedStep(pass, opcode, WEBHOOK_URL_ERROR)
    return
  }
  const id = derivedId('dlv', context.now, draft.run.id, opcode.id)
  draft.changes.push({
    type: 'delivery.created',
    delivery: {
      namespace: draft.run.namespace,
      id,
      app: draft.run.app,
      url,
      eventKind: 'custom',
      trace: runTraceparent(draft.run),
      status: 'pending',
      attemptCount: 0,
      maxAttempts: context.catalog.deliveryAttemptsMax,
      createdAt: context.now,
      updatedAt: context.now,
      fence: 0,
      availableAt: context.now,
      ...(opcode.data === undefined ? {} : { payload: opcode.data }),
    },
  })
  settledStep(pass, opcode, { data: `{"deliveryId":"${id}"}`, deliveryId: id })
}

const OTHERS = {
  WaitForEvent: waitForEvent,
  Sleep: sleep,
  SleepUntil: sleepUntil,
  RunWorkflow: runWorkflow,
  Emit: emit,
  Webhook: webhook,
}

function begun(
  opcode: PassOpcode,
  startedAt: number,
): Pick<Step, 'id' | 'name' | 'op' | 'attempt' | 'startedAt'> {
  return { id: opcode.id, name: opcode.name, op: opcode.op, attempt: 1, startedAt }
}

function parkedStep(pass: Pass, opcode: PassOpcode, fields: Partial<Step>): void {
  pass.draft.record({ ...begun(opcode, pass.draft.now), status: 'waiting', ...fields })
}

function settledStep(pass: Pass, opcode: PassOpcode, fields: Partial<Step>): void {
  const { now } = pass.draft
  pass.draft.record({ ...begun(opcode, now), status: 'succeeded', finishedAt: now, ...fields })
}

/** A step the engine itself refuses: the handler sees the error thrown and may catch it. */
function failedStep(pass: Pass, opcode: PassOpcode, error: StepError): void {
  const { now } = pass.draft
  pass.draft.record({ ...begun(opcode, now), status: 'failed', finishedAt: now, error })
}

function data(text: JsonText | undefined): { data?: JsonText } {
  return text === undefined ? {} : { data: text }
}

/** What a wait has from the event that settles it. */
function received(event: Omit<Event, 'woke' | 'triggered'>): Pick<Step, 'data' | 'eventId'> {
  return { data: eventResult(event), eventId: event.id }
}

/** The run's wait for the event that was parked first. */
function firstWait(pass: Pass, event: Event): Step | undefined {
  for (const step of pass.draft.open.values()) {
    const waits = step.op === 'WaitForEvent' && step.eventName === event.name
    if (waits && isAwaited(pass, step.condition, event)) return step
  }
  return undefined
}
