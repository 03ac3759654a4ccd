// Emit: events of a run. Each is recorded, wakes waits and starts runs in the commit of the pass that reports it, so it takes
// effect exactly once. An event for a later time is stored in that commit until it arrives.

import type { StepError } from '@perdure/protocol'
import { anyTriggered, type Fanout } from '../../arrival/fanout.ts'
import { takeIn } from '../../arrival/take-in.ts'
import { chainFault, chainTooLong, LONG_CHAIN, nextGeneration } from '../../holds/generations.ts'
import type { Attributes } from '../../model/attributes.ts'
import { DEDUPE_WINDOW_MS, type DedupeKey, type Triggered } from '../../model/event.ts'
import { stepLineKey } from '../../model/log-line.ts'
import type { EmitEffects } from '../../model/step.ts'
import { catalogGuards, dedupeName } from '../../run/assumptions.ts'
import { SCHEDULED_MS_MAX, scheduledRow } from '../../run/later/scheduled-event.ts'
import { derivedId, rankedId, shownRunId } from '../../text/ids.ts'
import { arrayElements, type JsonText } from '../../text/json-text.ts'
import { readEventName } from '../names/event-name.ts'
import type { DraftedPass, OpcodeRules, PassOpcodeOf } from './opcode.ts'
import { dataOf, recordFailed, recordSucceeded } from './record.ts'
import { settleOwnWaits } from './wait-for-event.ts'

/** Maximum triggered workflows that a step names. */
const EFFECTS_MAX = 10

export const emit: OpcodeRules<'Emit'> = {
  payload: 'data',
  runsOnRunner: false,
  parksFor: null,
  whenDue: null,
  draft(pass, opcode) {
    if (opcode.events) return emitAll(pass, opcode, opcode.events)
    const { draft } = pass
    const name = readEventName(opcode.eventName)
    if (typeof name !== 'string') return recordFailed(pass, opcode, name)
    const id = derivedId('evt', draft.now, draft.run.id, opcode.id)
    const emitted = emitOne(pass, { id, name, origin: opcode.id, ...dataOf(opcode.data) })
    if ('error' in emitted) return recordFailed(pass, opcode, emitted.error)
    recordSucceeded(pass, opcode, {
      data: `{"eventId":"${id}"}`,
      emittedEventId: id,
      eventName: name,
      effects: effectsOf([emitted.effects]),
    })
    warnOfSkips(pass, opcode, emitted.effects.triggered)
    return undefined
  },
}

/** An event that arrives in the commit of its step. */
interface Emitted {
  id: string
  name: string
  /** A name of the event that stays the same when the pass is decided again. */
  origin: string
  data?: JsonText
  app?: string | undefined
  attributes?: Attributes | undefined
}

/** Adds an event to the unit of the pass. */
function emitOne(pass: DraftedPass, one: Emitted): { effects: Fanout } | { error: StepError } {
  const { draft, assumptions, wokenWaiters, guarded } = pass
  const { catalog, report, now } = pass.context
  const { namespace, app: ownApp, engineEvents } = draft.run
  const { id, name, origin, data, app: targetApp, attributes } = one
  const app = targetApp ?? ownApp
  const source = 'emit' as const
  const generation = nextGeneration(draft.run)
  const event = { namespace, id, name, app, source, receivedAt: now, generation, ...dataOf(data) }
  if (generation > catalog.generationsMax) {
    draft.guards.push(...catalogGuards(catalog, assumptions))
    const triggered = anyTriggered({ event, catalog, report })
    if (triggered) {
      const what = `Event "${name}" was not emitted, since it triggers workflow "${triggered.name}" of app "${triggered.app}"`
      return { error: chainTooLong(what, catalog.generationsMax) }
    }
  }
  const { questions, guards, changes, run } = draft
  const unit = { questions, guards, changes, assumptions, wokenWaiters, guarded, self: run }
  const effects = takeIn(unit, { event, targetApp, attributes, catalog, origin, engineEvents, report, now })
  if (generation >= LONG_CHAIN && effects.triggered.length > 0) report(chainFault(run))
  if (effects.cancelsSelf) draft.set({ cancelRequested: true })
  const emitted = { ...event, woke: 0, triggered: [] }
  settleOwnWaits(pass, emitted)
  pass.emittedEvents.push(emitted)
  return { effects }
}

type Listed = NonNullable<PassOpcodeOf<'Emit'>['events']>[number]

/** Emits the events of a list in their order. If one of them cannot be emitted, none is. */
function emitAll(pass: DraftedPass, opcode: PassOpcodeOf<'Emit'>, listed: readonly Listed[]): undefined {
  const { draft } = pass
  const { namespace, id: runId } = draft.run
  const { now } = draft
  const fault = faultOf(pass, listed)
  if (fault) return recordFailed(pass, opcode, fault)
  const data = opcode.data === undefined ? [] : arrayElements(opcode.data)
  const ids: (string | null)[] = []
  const all: Fanout[] = []
  for (const [i, { eventName: name, noData, dedupeId, attributes, app, ...later }] of listed.entries()) {
    const id = rankedId('evt', now, i, runId, opcode.id, String(i))
    const at = timeOf(later, now)
    const key = dedupeId === undefined ? undefined : { namespace, app: app ?? '', dedupeId, now }
    const first = key && claim(pass, key, { id, at })
    ids.push(first === undefined ? id : first)
    if (first !== undefined) continue
    const about = { id, name, ...dataOf(noData ? undefined : data[i]) }
    if (at > now) {
      const event = { ...about, createdAt: now, ...(app !== undefined && { app }), ...(attributes && { attributes }) }
      draft.changes.push({
        type: 'flow.saved',
        row: scheduledRow(namespace, { ...event, ...(dedupeId !== undefined && { dedupeId }) }, at),
      })
      continue
    }
    const emitted = emitOne(pass, { ...about, origin: `${opcode.id}#${i}`, app, attributes })
    // The faults of all events were checked before.
    if ('effects' in emitted) all.push(emitted.effects)
  }
  const triggered = all.flatMap(effects => effects.triggered)
  const [eventName] = listed.map(({ eventName }) => eventName)
  recordSucceeded(pass, opcode, {
    data: JSON.stringify({ ids }),
    ...(eventName !== undefined && { eventName }),
    effects: effectsOf(all),
  })
  warnOfSkips(pass, opcode, triggered)
  return undefined
}

/** Why one of the events cannot be emitted; undefined if all can. */
function faultOf({ draft, context, assumptions }: DraftedPass, listed: readonly Listed[]): StepError | undefined {
  const { catalog, report } = context
  const generation = nextGeneration(draft.run)
  for (const [i, { eventName, app: targetApp, ...later }] of listed.entries()) {
    const name = readEventName(eventName)
    if (typeof name !== 'string') return { ...name, message: `events[${i}]: ${name.message}` }
    const at = timeOf(later, draft.now)
    if (at > draft.now + SCHEDULED_MS_MAX)
      return { name: 'EventTimeError', message: `events[${i}]: its time must not be more than 366 days away.` }
    if (generation <= catalog.generationsMax || at > draft.now) continue
    draft.guards.push(...catalogGuards(catalog, assumptions))
    const { namespace, app } = draft.run
    const event = { namespace, id: '', name, app: targetApp ?? app, source: 'emit' as const, receivedAt: draft.now }
    const triggered = anyTriggered({ event, catalog, report })
    if (triggered)
      return chainTooLong(
        `Event "${name}" was not emitted, since it triggers workflow "${triggered.name}"`,
        catalog.generationsMax,
      )
  }
  return undefined
}

function timeOf({ delayMs, atMs }: Pick<Listed, 'delayMs' | 'atMs'>, now: number): number {
  return delayMs === undefined ? Math.ceil(atMs ?? now) : now + Math.ceil(delayMs)
}

/** Claims the dedupe id of an event. Returns, for a repeat, the event that claimed the id, or null if that is not known. */
function claim(
  { draft, assumptions, claimedIds }: DraftedPass,
  key: DedupeKey,
  event: { id: string; at: number },
): string | null | undefined {
  const name = dedupeName(key)
  const earlier = claimedIds.get(name) ?? assumptions.dedupes.get(name)
  if (earlier !== undefined) return earlier
  claimedIds.set(name, event.id)
  const { now, ...id } = key
  draft.guards.push({ type: 'dedupe', ...key, assumed: true })
  const expiresAt = Math.max(now, event.at) + DEDUPE_WINDOW_MS
  draft.changes.push({ type: 'dedupe.claimed', ...id, expiresAt, eventId: event.id })
  return undefined
}

/** The effects that the step stores; absent if there were none. */
function effectsOf(all: readonly Pick<Fanout, 'woke' | 'triggered'>[]): EmitEffects | undefined {
  const woke = all.reduce((sum, effects) => sum + effects.woke, 0)
  const triggered = all.flatMap(effects => effects.triggered)
  if (woke === 0 && triggered.length === 0) return undefined
  const more = triggered.length - EFFECTS_MAX
  return { woke, triggered: triggered.slice(0, EFFECTS_MAX), ...(more > 0 && { more }) }
}

/** Logs the skips of the event by singletons: otherwise the workflow would seem to have no trigger. */
function warnOfSkips(
  { draft }: DraftedPass,
  { id, name, eventName }: PassOpcodeOf<'Emit'>,
  triggered: Triggered[],
): void {
  const skipped = triggered.filter(entry => entry.liveRunId !== undefined).slice(0, EFFECTS_MAX)
  for (const [index, { workflow, app, delivered, liveRunId = '' }] of skipped.entries()) {
    const live = liveRunId === draft.run.id ? 'this run' : `its run ${shownRunId(liveRunId)}`
    const message = `Event "${eventName}" started no run of workflow "${workflow}" of app "${app}": it is a singleton, and ${live} is live.${delivered ? ' Only waits of that run receive the event.' : ''}`
    draft.log({ level: 'warn', message, scope: name, attempt: 1, index, dedupe: stepLineKey(id, 1, index) })
  }
}
