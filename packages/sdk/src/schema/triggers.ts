// Triggers that name typed events: the types a handler gets from them, and which schema an arriving event is held to.

import type { StandardSchemaV1 } from '@standard-schema/spec'
import { InvalidDataError } from '../errors.ts'
import type { WorkflowEvent } from '../step-tools.ts'
import {
  type EventDefinition,
  isEventDefinition,
  type NamesOf,
  type ReceivedOf,
  type SentOf,
} from './event.ts'
import { type Subject, validate } from './validate.ts'

/** What starts a run: an event (its name may end in `*`, `if` is CEL over `event`), or a schedule. */
export type WorkflowTrigger = { event: string; if?: string } | { cron: string }

/** A trigger that may name a typed event; the definition alone stands for `{event: definition}`. */
export type AnyTrigger = WorkflowTrigger | EventDefinition | { event: EventDefinition; if?: string }

/** `event.data` of a run that a schedule started; its `event.name` is `engine/cron`. */
export interface CronData {
  readonly cron: string
  /** RFC 3339. */
  readonly scheduledAt: string
}

type OneOf<Triggers> = Triggers extends readonly unknown[] ? Triggers[number] : Triggers

type DefinitionOf<Trigger> = Trigger extends EventDefinition
  ? Trigger
  : Trigger extends { event: infer Event }
    ? Extract<Event, EventDefinition>
    : never

type EventOf<Trigger> = Trigger extends EventDefinition
  ? WorkflowEvent<ReceivedOf<Trigger>, NamesOf<Trigger['name']>>
  : Trigger extends { event: infer Event }
    ? Event extends EventDefinition
      ? WorkflowEvent<ReceivedOf<Event>, NamesOf<Event['name']>>
      : WorkflowEvent<unknown, NamesOf<Event & string>>
    : WorkflowEvent<CronData, 'engine/cron'>

/** The events that start a workflow with these triggers: a union that `event.name` discriminates. */
export type EventIn<Triggers> = EventOf<OneOf<Triggers>>

/** The data of one such event. */
export type DataIn<Triggers> = EventIn<Triggers>['data']

/** The event of a workflow that collects: a list of payloads, whatever events they came with; a schedule has its own. */
export type CollectedIn<Triggers> =
  | WorkflowEvent<EventOf<Exclude<OneOf<Triggers>, { cron: string }>>['data'][]>
  | ([Extract<OneOf<Triggers>, { cron: string }>] extends [never]
      ? never
      : WorkflowEvent<CronData, 'engine/cron'>)

/** What its data must be where such a workflow is started by hand: the input of one of the schemas. */
export type SentIn<Triggers> = SentOf<DefinitionOf<OneOf<Triggers>>>

/** `unknown` when a typed event is among the triggers, else `never`: to choose an overload by. */
export type Typed<Triggers> = [DefinitionOf<OneOf<Triggers>>] extends [never] ? never : unknown

/** What a parser makes of the event that started a run: the same with its data validated. */
export type EventParser = (event: WorkflowEvent) => Promise<WorkflowEvent>

/** The name, schema and condition of a trigger. */
export function readTrigger(trigger: AnyTrigger): { registered: WorkflowTrigger; schema?: StandardSchemaV1 } {
  if (isEventDefinition(trigger)) return { registered: { event: trigger.name }, schema: trigger.schema }
  const { event, ...rest } = trigger as { event?: string | EventDefinition }
  if (!isEventDefinition(event)) return { registered: trigger as WorkflowTrigger }
  return { registered: { event: event.name, ...rest }, schema: event.schema }
}

/** Holds a run's data to one schema, whatever started it. */
export function parseBy(workflow: string, schema: StandardSchemaV1): EventParser {
  const what = `The input of workflow "${workflow}"`
  return async event => ({ ...event, data: await validate(schema, event.data, { what, root: 'data' }) })
}

/**
 * Holds a run's data to the schemas of its triggers: those whose name matches the event's. A run that no trigger
 * started (a child) gets the name of the first event whose schema takes its data, so that the name still tells its type.
 * `collected`: the data is a list of payloads, of whatever events. Undefined when no trigger has a schema.
 */
export function parseByTriggers(
  workflow: string,
  triggers: readonly AnyTrigger[],
  collected: boolean,
): EventParser | undefined {
  const known = triggers.map(readTrigger).map(({ registered, schema }) => ({
    name: 'event' in registered ? registered.event : CRON_EVENT,
    schema,
  }))
  if (known.every(({ schema }) => schema === undefined)) return undefined
  const what = `The input of workflow "${workflow}"`
  if (collected) return event => parseCollected(event, known, what)
  return async event => {
    const matching = known.filter(({ name }) => matches(name, event.name))
    // An untyped trigger that matches promises nothing of the data.
    if (matching.some(({ schema }) => schema === undefined)) return event
    const asked = matching.length > 0 ? matching : known
    const { data, name } = await firstAccepting(asked, event.data, { what, root: 'data' })
    return { ...event, data, name: matching.length > 0 ? event.name : name }
  }
}

/** The name the engine gives the event of a run that a schedule started. */
const CRON_EVENT = 'engine/cron'

type Known = { readonly name: string; readonly schema: StandardSchemaV1 | undefined }

async function parseCollected(
  event: WorkflowEvent,
  known: readonly Known[],
  what: string,
): Promise<WorkflowEvent> {
  const events = known.filter(({ name }) => name !== CRON_EVENT)
  if (event.name === CRON_EVENT || events.some(({ schema }) => schema === undefined)) return event
  if (!Array.isArray(event.data))
    throw new InvalidDataError(what, [{ path: 'data', message: 'not an array' }])
  const data: unknown[] = []
  for (const [index, payload] of event.data.entries()) {
    data.push((await firstAccepting(events, payload, { what, root: `data.${index}` })).data)
  }
  return { ...event, data }
}

/** What the first schema that takes the data makes of it; when none does, the refusal of the first that was asked. */
async function firstAccepting(
  known: readonly Known[],
  value: unknown,
  { what, root }: Subject,
): Promise<{ name: string; data: unknown }> {
  let refusal: unknown
  for (const { name, schema } of known) {
    if (!schema) continue
    try {
      const data = await validate(schema, value, { what: `${what} (event "${name}")`, root })
      return { name, data }
    } catch (error) {
      // A schema that breaks is no refusal.
      if (!(error instanceof InvalidDataError)) throw error
      refusal ??= error
    }
  }
  throw refusal
}

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}
