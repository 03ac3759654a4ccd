// Adds events to one unit, one after the other: each is decided as if the earlier ones were durable. Used for the emits of a
// pass (domain/pass/opcodes/emit) and the events of a request (services/event/ingest).

import type { Guard } from '../model/change.ts'
import type { UnitWithQuestions } from '../model/decision.ts'
import type { Run } from '../model/run.ts'
import { noteWritten, type OwnAssumptions } from '../run/assumptions.ts'
import { cancelAtBirth } from '../run/draft.ts'
import { type Fanout, type FanoutInput, fanout, waiterKey } from './fanout.ts'

/** The unit so far. */
export interface UnitOfEvents extends UnitWithQuestions {
  /** The assumptions include the flow-control rows that the unit has written. */
  readonly assumptions: OwnAssumptions
  /** Waiters (by `waiterKey`) that the unit has woken. */
  readonly wokenWaiters: Set<string>
  /** Keys of the unit's guards, from its second event on. */
  readonly guarded: Set<string>
  /** The run that emits the events. Its own waits are settled in its own draft. */
  self?: Readonly<Run>
}

/** Adds the event and its effects to the unit. If the unit has questions, its effects are void. */
export function takeIn(
  unit: UnitOfEvents,
  input: Omit<FanoutInput, 'assumptions' | 'alreadyWoken' | 'drafted'>,
): Fanout {
  const { assumptions, wokenWaiters, changes, self } = unit
  const drafted = { changes, ...(self && { self }) }
  // Copies field by field: this runs for every event, and a spread took a thirtieth of a short run.
  const effects = fanout({
    event: input.event,
    targetApp: input.targetApp,
    pin: input.pin,
    attributes: input.attributes,
    trace: input.trace,
    engineEvents: input.engineEvents,
    notFor: input.notFor,
    catalog: input.catalog,
    origin: input.origin,
    report: input.report,
    now: input.now,
    assumptions,
    alreadyWoken: wokenWaiters,
    drafted,
  })
  unit.questions.push(...effects.questions)
  addGuards(unit, effects.guards)
  changes.push(...effects.changes)
  noteWritten(assumptions, effects.changes)
  for (const runId of effects.cancelledAtBirth) cancelAtBirth(changes, runId)
  for (const wake of effects.wakes) {
    wokenWaiters.add(waiterKey(wake))
    // A wake from outside would make the decision on the run itself stale.
    if (wake.runId !== self?.id) changes.push(wake)
  }
  return effects
}

/** Events of one name rest on the same facts: each fact is checked only once. */
function addGuards({ guards, guarded }: UnitOfEvents, added: readonly Guard[]): void {
  // Most units have one event.
  if (guards.length === 0) return void guards.push(...added)
  if (guarded.size === 0) for (const guard of guards) guarded.add(keyOf(guard))
  for (const guard of added) {
    const key = keyOf(guard)
    if (guarded.has(key)) continue
    guarded.add(key)
    guards.push(guard)
  }
}

/** All guards of a decision rest on the same assumptions, so the waiters of a name do not need to be compared. */
function keyOf(guard: Guard): string {
  if (guard.type !== 'waiters') return JSON.stringify(guard)
  return JSON.stringify([guard.type, guard.namespace, guard.eventName, guard.matchKey])
}
