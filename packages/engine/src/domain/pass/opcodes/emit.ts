// Emit: an event of a run. It is recorded, wakes waits and starts runs in the commit of the pass that reports it, so it
// takes effect exactly once.

import { anyTriggered, type Fanout } from '../../arrival/fanout.ts'
import { takeIn } from '../../arrival/take-in.ts'
import { chainFault, chainTooLong, LONG_CHAIN, nextGeneration } from '../../holds/generations.ts'
import type { Triggered } from '../../model/event.ts'
import { stepLineKey } from '../../model/log-line.ts'
import type { EmitEffects } from '../../model/step.ts'
import { catalogGuards } from '../../run/assumptions.ts'
import { derivedId, shownRunId } from '../../text/ids.ts'
import { readEventName } from '../names/event-name.ts'
import type { DraftedPass, OpcodeRules, PassOpcodeOf } from './opcode.ts'
import { dataOf, recordFailed, recordSucceeded } from './record.ts'
import { settleOwnWaits } from './wait-for-event.ts'

/** Workflows that a step names of those that its event triggered. */
const EFFECTS_MAX = 10

export const emit: OpcodeRules<'Emit'> = {
  payload: 'data',
  runsOnRunner: false,
  parksFor: null,
  whenDue: null,
  draft(pass, opcode) {
    const { draft, assumptions, wokenWaiters, guarded } = pass
    const { catalog, report, now } = pass.context
    const eventName = readEventName(opcode.eventName)
    if (typeof eventName !== 'string') return recordFailed(pass, opcode, eventName)
    const { namespace, app, id: runId, engineEvents } = draft.run
    const id = derivedId('evt', now, runId, opcode.id)
    const source = 'emit' as const
    const generation = nextGeneration(draft.run)
    const event = { namespace, id, name: eventName, app, source, receivedAt: now, generation, ...dataOf(opcode.data) }
    if (generation > catalog.generationsMax) {
      draft.guards.push(...catalogGuards(catalog, assumptions))
      const triggered = anyTriggered({ event, catalog, report })
      if (triggered) {
        const what = `Event "${eventName}" was not emitted, since it triggers workflow "${triggered.name}" of app "${triggered.app}"`
        return recordFailed(pass, opcode, chainTooLong(what, catalog.generationsMax))
      }
    }
    const { questions, guards, changes, run } = draft
    const unit = { questions, guards, changes, assumptions, wokenWaiters, guarded, self: run }
    const effects = takeIn(unit, { event, catalog, origin: opcode.id, engineEvents, report, now })
    if (generation >= LONG_CHAIN && effects.triggered.length > 0) report(chainFault(run))
    if (effects.cancelsSelf) draft.set({ cancelRequested: true })
    const emitted = { ...event, woke: 0, triggered: [] }
    settleOwnWaits(pass, emitted)
    pass.emittedEvents.push(emitted)
    recordSucceeded(pass, opcode, {
      data: `{"eventId":"${id}"}`,
      emittedEventId: id,
      eventName,
      effects: effectsOf(effects),
    })
    warnOfSkips(pass, opcode, effects.triggered)
    return undefined
  },
}

/** The effects that the step keeps; absent if there were none. */
function effectsOf({ woke, triggered }: Pick<Fanout, 'woke' | 'triggered'>): EmitEffects | undefined {
  if (woke === 0 && triggered.length === 0) return undefined
  const more = triggered.length - EFFECTS_MAX
  return { woke, triggered: triggered.slice(0, EFFECTS_MAX), ...(more > 0 && { more }) }
}

/** A workflow whose singleton skips the event looks as if it had no trigger: the log of the run names it. */
function warnOfSkips(
  { draft }: DraftedPass,
  { id, name, eventName }: PassOpcodeOf<'Emit'>,
  triggered: Triggered[],
): void {
  const skipped = triggered.filter(entry => entry.liveRunId !== undefined).slice(0, EFFECTS_MAX)
  for (const [index, { workflow, app, liveRunId = '' }] of skipped.entries()) {
    const live = liveRunId === draft.run.id ? 'this run' : `its run ${shownRunId(liveRunId)}`
    const message = `Event "${eventName}" started nothing in workflow "${workflow}" of app "${app}": it is a singleton, and ${live} is live.`
    draft.log({ level: 'warn', message, scope: name, attempt: 1, index, dedupe: stepLineKey(id, 1, index) })
  }
}
