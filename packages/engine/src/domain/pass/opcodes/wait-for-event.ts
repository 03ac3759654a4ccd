// WaitForEvent: a step that an event settles (docs/events.md#waits): one that came since the run was created, one that
// this pass emits, or one to come.

import { eventResult } from '../../arrival/fanout.ts'
import { expressionFault } from '../../expressions/expression.ts'
import { EventSubject, evaluateWaitCondition } from '../../expressions/matching.ts'
import type { Event } from '../../model/event.ts'
import type { Step } from '../../model/step.ts'
import { EVENT_NAME_ERROR, isEventName } from './event-name.ts'
import type { DraftedPass, OpcodeRules } from './opcode.ts'
import { recordFailed, recordSucceeded, recordWaiting } from './record.ts'

export const waitForEvent: OpcodeRules<'WaitForEvent'> = {
  payload: null,
  runsOnRunner: false,
  parksFor: 'event',
  whenDue: { data: 'null', timedOut: true },
  draft(pass, opcode) {
    const { eventName, timeoutMs, if: condition } = opcode
    if (!isEventName(eventName)) return recordFailed(pass, opcode, EVENT_NAME_ERROR)
    const inWait = { inWait: true }
    const fault = condition === undefined ? undefined : expressionFault(condition, 'condition', inWait)
    if (fault !== undefined) return recordFailed(pass, opcode, { name: 'WaitFilterError', message: `if ${fault}` })
    const event = earlierEvent(pass, eventName, condition)
    if (event) {
      pass.takenEventIds.add(event.id)
      return recordSucceeded(pass, opcode, { eventName, condition, ...resultOf(event) })
    }
    const wakeAt = timeoutMs === undefined ? undefined : pass.draft.now + Math.ceil(timeoutMs)
    return recordWaiting(pass, opcode, { eventName, condition, wakeAt })
  },
}

/**
 * Settles the run's own wait for an event that the run emits: of several, the wait that was parked first. False if none
 * waits for the event.
 */
export function settleOwnWait(pass: DraftedPass, event: Event): boolean {
  const { draft } = pass
  for (const step of draft.open.values()) {
    if (step.op !== 'WaitForEvent' || step.eventName !== event.name) continue
    if (!meetsFilter(pass, step.condition, event)) continue
    draft.moveStep(step, { ...resultOf(event), status: 'succeeded', finishedAt: draft.now })
    return true
  }
  return false
}

/**
 * The oldest event of that name since the run was created that meets the filter, is not the run's own trigger, and has
 * been taken by no wait of the run. If the log has none, a guard makes the decision rest on the log having no more; the
 * events that this pass emits come after those of the log.
 */
function earlierEvent(pass: DraftedPass, eventName: string, condition: string | undefined): Event | undefined {
  const { draft, state, context } = pass
  const isFree = (event: Event) =>
    event.id !== state.run.trigger.id &&
    !state.takenEvents.has(event.id) &&
    !pass.takenEventIds.has(event.id) &&
    meetsFilter(pass, condition, event)
  const { events, after } = context.assumptions.events.get(eventName) ?? { events: [], after: 0 }
  const logged = events.find(isFree)
  if (logged) return logged
  const { namespace, id: runId } = draft.run
  draft.guards.push({ type: 'events', namespace, eventName, runId, after })
  return pass.emittedEvents.find(event => event.name === eventName && isFree(event))
}

/** Whether the event meets the filter of a wait of this run. A filter that cannot be evaluated is not met. */
function meetsFilter({ state }: DraftedPass, condition: string | undefined, event: Event): boolean {
  if (condition === undefined) return true
  const { trigger, input } = state.run
  const met = evaluateWaitCondition(
    { filter: condition, trigger: { ...trigger, data: input } },
    new EventSubject(event),
  )
  return met.ok && met.value
}

/** The fields of a wait that the event has settled. */
function resultOf(event: Event): Pick<Step, 'data' | 'eventId'> {
  return { data: eventResult(event), eventId: event.id }
}
