// WaitForEvent and WaitForSignal: a step that an event settles (docs/events.md#waits): an event that came since the run was
// created, one that this pass emits, or a later one. A signal is an event whose name in the log belongs to its run, so only
// that run waits for it.

import { matchFault, type StepError } from '@perdure/protocol'
import { eventResult } from '../../arrival/fanout.ts'
import { EventSubject } from '../../expressions/event-subject.ts'
import { expressionFault } from '../../expressions/expression.ts'
import { waitMatchKey } from '../../expressions/match.ts'
import { evaluateWaitCondition } from '../../expressions/matching.ts'
import type { Guard } from '../../model/change.ts'
import type { Event } from '../../model/event.ts'
import type { Step } from '../../model/step.ts'
import type { LoggedEvent } from '../../run/assumptions.ts'
import { isSignalName, SIGNAL_NAME_FAULT, signalEventName, signalOf } from '../../text/name.ts'
import { readEventName } from '../names/event-name.ts'
import type { DraftedPass, OpcodeRules, PassOpcode, PassOpcodeOf } from './opcode.ts'
import { recordFailed, recordSucceeded, recordWaiting } from './record.ts'

export const waitForEvent: OpcodeRules<'WaitForEvent'> = {
  payload: null,
  runsOnRunner: false,
  parksFor: 'event',
  whenDue: { data: 'null', timedOut: true },
  draft(pass, opcode) {
    const { if: condition } = opcode
    const eventName = readEventName(opcode.eventName)
    if (typeof eventName !== 'string') return recordFailed(pass, opcode, eventName)
    const inWait = { inWait: true }
    const fault = condition === undefined ? undefined : expressionFault(condition, 'condition', inWait)
    if (fault !== undefined) return recordFailed(pass, opcode, { name: 'WaitFilterError', message: `if ${fault}` })
    const unusable = opcode.match === undefined ? undefined : matchFault(opcode.match)
    if (unusable !== undefined)
      return recordFailed(pass, opcode, { name: 'WaitFilterError', message: `match ${unusable}` })
    return draftWait(pass, opcode, eventName)
  },
}

export const waitForSignal: OpcodeRules<'WaitForSignal'> = {
  payload: null,
  runsOnRunner: false,
  parksFor: 'signal',
  whenDue: { data: 'null', timedOut: true },
  draft(pass, opcode) {
    if (!isSignalName(opcode.signal)) return recordFailed(pass, opcode, SIGNAL_NAME_ERROR)
    return draftWait(pass, opcode, signalEventName(pass.draft.run.id, opcode.signal))
  },
}

const SIGNAL_NAME_ERROR: StepError = { name: 'SignalNameError', message: `signal ${SIGNAL_NAME_FAULT}.` }

type WaitOpcode = PassOpcodeOf<'WaitForEvent' | 'WaitForSignal'>

/** The name in the log of the event that the opcode waits for; undefined for any other opcode. */
function awaitedName({ draft }: DraftedPass, opcode: PassOpcode): string | undefined {
  if (opcode.op === 'WaitForEvent') return opcode.eventName as string
  return opcode.op === 'WaitForSignal' ? signalEventName(draft.run.id, String(opcode.signal)) : undefined
}

/** The condition of a wait, as its step stores it. */
type Condition = Pick<Step, 'condition' | 'match'>

function conditionOf(opcode: WaitOpcode): Condition {
  if (opcode.op !== 'WaitForEvent') return NO_CONDITION
  const { if: condition, match } = opcode
  if (match === undefined) return condition === undefined ? NO_CONDITION : { condition }
  return { condition, match }
}

const NO_CONDITION: Condition = {}

/** The key with which an event finds the parked wait. */
function matchKeyOf({ state }: DraftedPass, { match }: Condition): Pick<Step, 'matchKey'> {
  if (match === undefined) return {}
  const { trigger, input } = state.run
  return { matchKey: waitMatchKey(match, { ...trigger, data: input }) }
}

function draftWait(pass: DraftedPass, opcode: WaitOpcode, eventName: string): undefined {
  const { since, timeoutMs } = opcode
  const condition = conditionOf(opcode)
  const event = since === 'now' ? undefined : earlierEvent(pass, opcode, eventName)
  if (event) return recordSucceeded(pass, opcode, { eventName, ...condition, ...resultOf(event) })
  const wakeAt = timeoutMs === undefined ? undefined : pass.draft.now + Math.ceil(timeoutMs)
  return recordWaiting(pass, opcode, { eventName, ...condition, ...matchKeyOf(pass, condition), wakeAt })
}

/** Settles the run's own waits for an event that the run emits. */
export function settleOwnWaits(pass: DraftedPass, event: Event): void {
  const { draft } = pass
  for (const step of [...draft.open.values()]) {
    if (step.op !== 'WaitForEvent' || step.eventName !== event.name) continue
    if (!meetsCondition(pass, step, event)) continue
    draft.moveStep(step, { ...resultOf(event), status: 'succeeded', finishedAt: draft.now })
  }
}

/**
 * The oldest event that the wait sees. If the log has none, a guard ensures that the log has no newer one either; the events
 * that this pass emits come after those of the log.
 */
function earlierEvent(pass: DraftedPass, opcode: WaitOpcode, eventName: string): Event | undefined {
  const { draft } = pass
  const logged = loggedEvent(pass, opcode)
  if (logged) return logged.event
  draft.guards.push(noMoreEvents(pass, eventName))
  return pass.emittedEvents.find(event => event.name === eventName && sees(pass, opcode, event))
}

/**
 * The guard that the log has no more events of the name than were read. The signals of a link of a chain may be older than the
 * link, if the earlier links did not take them.
 */
function noMoreEvents({ draft, context }: DraftedPass, eventName: string): Guard {
  const { namespace, id: runId } = draft.run
  const { after } = context.assumptions.events.get(eventName) ?? {}
  return {
    type: 'events',
    namespace,
    eventName,
    runId,
    after: after ?? (signalOf(eventName) === undefined ? 'run' : 0),
  }
}

/** The oldest event of the log that a new wait sees. */
function loggedEvent(pass: DraftedPass, opcode: WaitOpcode): LoggedEvent | undefined {
  const { seen, context } = pass
  const known = context.assumptions.events.get(awaitedName(pass, opcode) as string)
  if (!known || opcode.since === 'now') return undefined
  if (!seen.has(opcode.id))
    seen.set(
      opcode.id,
      known.events.find(({ event }) => sees(pass, opcode, event)),
    )
  return seen.get(opcode.id)
}

/**
 * Whether the event meets the wait, is not the run's own trigger, and had not been given to the handler when it began the wait.
 */
function sees(pass: DraftedPass, opcode: WaitOpcode, event: Event): boolean {
  const { state, context } = pass
  const { given } = opcode
  if (event.id === state.run.trigger.id) return false
  // A runner without the feature has given the handler all of its memo.
  const { settled, except = [] } = given ?? { settled: context.knowledge.settled }
  const isGiven = eventsAmong(pass, settled).has(event.id) && !except.includes(event.id)
  return !isGiven && meetsCondition(pass, conditionOf(opcode), event)
}

function eventsAmong({ state, eventsAmong }: DraftedPass, count: number): ReadonlySet<string> {
  const events = eventsAmong.get(count) ?? state.eventsAmong(count)
  eventsAmong.set(count, events)
  return events
}

/** Whether the event meets the condition of a wait of this run. A filter that cannot be evaluated is not met. */
function meetsCondition({ state }: DraftedPass, { condition, match }: Condition, event: Event): boolean {
  if (condition === undefined && match === undefined) return true
  const { trigger, input } = state.run
  const met = evaluateWaitCondition(
    {
      ...(condition === undefined ? {} : { filter: condition }),
      ...(match === undefined ? {} : { match }),
      trigger: { ...trigger, data: input },
    },
    new EventSubject(event),
  )
  return met.ok && met.value
}

/** The fields of a wait that the event has settled. */
function resultOf(event: Event): Pick<Step, 'data' | 'eventId'> {
  return { data: eventResult(event), eventId: event.id }
}

// The handler gets events in the order of the log, whatever their names. The memo has steps in the order in which they were
// stored, so the steps are stored in log order.

/** The opcodes, with the waits that see an event of the log sorted by these events. All others keep their places. */
export function inLogOrder(pass: DraftedPass, opcodes: readonly PassOpcode[]): readonly PassOpcode[] {
  if (opcodes.length < 2 || pass.context.assumptions.events.size === 0) return opcodes
  const places: { at: number; position: number }[] = []
  for (const [at, opcode] of opcodes.entries()) {
    if (awaitedName(pass, opcode) === undefined || pass.state.steps.has(opcode.id)) continue
    const logged = loggedEvent(pass, opcode as WaitOpcode)
    if (logged) places.push({ at, position: logged.position })
  }
  const ordered = [...opcodes]
  for (const [i, { at }] of places.toSorted((a, b) => a.position - b.position).entries())
    ordered[(places[i] as { at: number }).at] = opcodes[at] as PassOpcode
  return ordered
}

/**
 * Moves waits behind the waits of this pass that see an earlier event. The moved waits settled while the pass was under way, so
 * the handler has neither result yet.
 */
export function moveBehindEarlier(pass: DraftedPass): void {
  const { state, draft, context, seen } = pass
  const positions = [...seen.values()].flatMap(logged => (logged ? [logged.position] : []))
  if (positions.length === 0) return
  const earliest = Math.min(...positions)
  const later = state.settled
    .slice(context.knowledge.settled)
    .map(step => ({ step, position: positionOf(pass, step) }))
    .filter(({ position }) => position > earliest)
  for (const { step } of later.toSorted((a, b) => a.position - b.position)) draft.moveStep(step, {})
}

/** Position of the event that settled a wait; -Infinity if none did. If the position is not known, a guard makes it be read. */
function positionOf(pass: DraftedPass, { eventId, eventName }: Step): number {
  if (eventId === undefined || eventName === undefined) return Number.NEGATIVE_INFINITY
  const { events = [] } = pass.context.assumptions.events.get(eventName) ?? {}
  const found = events.find(({ event }) => event.id === eventId)
  if (!found) pass.draft.guards.push(noMoreEvents(pass, eventName))
  return found?.position ?? Number.NEGATIVE_INFINITY
}
