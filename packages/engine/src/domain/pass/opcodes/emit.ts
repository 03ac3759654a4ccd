// Emit: an event of a run. It is recorded, wakes waits and starts runs in the commit of the pass that reports it, so it
// takes effect exactly once.

import { fanout, waiterKey } from '../../arrival/fanout.ts'
import { noteWritten } from '../../run/assumptions.ts'
import { derivedId } from '../../text/ids.ts'
import { EVENT_NAME_ERROR, isEventName } from './event-name.ts'
import type { OpcodeRules } from './opcode.ts'
import { dataOf, recordFailed, recordSucceeded } from './record.ts'
import { settleOwnWait } from './wait-for-event.ts'

export const emit: OpcodeRules<'Emit'> = {
  payload: 'data',
  runsOnRunner: false,
  parksFor: null,
  whenDue: null,
  draft(pass, opcode) {
    const { draft, assumptions, wokenWaiters } = pass
    const { catalog, report, now } = pass.context
    const { eventName } = opcode
    if (!isEventName(eventName)) return recordFailed(pass, opcode, EVENT_NAME_ERROR)
    const { namespace, app, id: runId } = draft.run
    const id = derivedId('evt', now, runId, opcode.id)
    const source = 'emit' as const
    const event = { namespace, id, name: eventName, app, source, receivedAt: now, ...dataOf(opcode.data) }
    const effects = fanout({
      event,
      catalog,
      assumptions,
      alreadyWoken: wokenWaiters,
      drafted: { changes: draft.changes, self: draft.run },
      origin: opcode.id,
      report,
      now,
    })
    draft.questions.push(...effects.questions)
    draft.guards.push(...effects.guards)
    draft.changes.push(...effects.changes)
    noteWritten(assumptions, effects.changes)
    for (const runId of effects.cancelledAtBirth) draft.cancelAtBirth(runId)
    if (effects.cancelsSelf) draft.set({ cancelRequested: true })
    for (const wake of effects.wakes) {
      wokenWaiters.add(waiterKey(wake))
      // The run's own wait is settled in its own draft: a wake from outside would make this very unit stale.
      if (wake.runId !== runId) draft.changes.push(wake)
    }
    const emitted = { ...event, woke: 0, triggered: [] }
    if (!settleOwnWait(pass, emitted)) pass.emittedEvents.push(emitted)
    return recordSucceeded(pass, opcode, { data: `{"eventId":"${id}"}`, emittedEventId: id, eventName })
  },
}
