// Triggers, including those of typed events: the types a handler gets from them, and the schema that validates an arriving event.
// Called by `create-workflow.ts`.

import { type EventDefinition, InvalidDataError, type NamesOf, type ReceivedOf, type SentOf } from '@perdure/client'
import { isEventDefinition, type Subject, validate } from '@perdure/client/internal'
import type { FOLLOW_ON_KINDS, MatchValues, RunError, TERMINAL_STATUSES } from '@perdure/protocol'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { BatchEvent, ReceivedEvent, WorkflowEvent } from '../run/run-context.ts'

/**
 * An event that starts a run (its name may end in `*`, `if` is CEL over `event`, `match` lists values that it must have), or a
 * schedule.
 */
export type WorkflowTrigger = { event: string; if?: string; match?: MatchValues } | { cron: string }

/** A trigger that may name a typed event. A definition alone means `{event: definition}`. */
export type AnyTrigger =
  | WorkflowTrigger
  | EventDefinition
  | { event: EventDefinition; if?: string; match?: MatchValues }

/** `event.data` of a run that a schedule started. The `event.name` of such a run is `engine/cron`. */
export interface CronData {
  readonly cron: string
  /** RFC 3339. */
  readonly scheduledAt: string
  /** The instant of the previous run, in RFC 3339; absent the first time. The run covers the time since then. */
  readonly previousAt?: string
}

/** How a run ended. */
type EndedStatus = (typeof TERMINAL_STATUSES)[number]

/** `event.data` of an event that the engine sends when a run has ended, such as `perdure/run.failed`. */
export interface RunEndedData<Status extends EndedStatus = EndedStatus> {
  readonly runId: string
  readonly workflow: string
  readonly app: string
  readonly status: Status
  /** Only for a run that succeeded. */
  readonly result?: unknown
  /** Only for a run that failed. */
  readonly error?: RunError
  /** The result or the error is larger than 64 KiB and is left out. */
  readonly resultOmitted?: true
  /** Only for a run that follows a failed or cancelled run. */
  readonly kind?: (typeof FOLLOW_ON_KINDS)[number]
  readonly parentRunId?: string
  readonly attributes?: Readonly<Record<string, string | number | boolean>>
}

/** The name of a trigger for events of the engine. */
type EngineEventName = `perdure/${string}`

type DataNamed<Name> = Name extends `perdure/run.${infer Status extends EndedStatus}`
  ? RunEndedData<Status>
  : Name extends EngineEventName
    ? RunEndedData
    : unknown

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
      : WorkflowEvent<DataNamed<Event>, NamesOf<Event & string>>
    : WorkflowEvent<CronData, 'engine/cron'>

/** The events that start a workflow with these triggers: a union discriminated by `event.name`. */
export type EventIn<Triggers> = EventOf<OneOf<Triggers>>

/** The data of an event that starts a workflow with these triggers. */
export type DataIn<Triggers> = EventIn<Triggers>['data']

/** The event of a workflow that collects events: a list of their payloads. A schedule keeps its own event. */
export type CollectedIn<Triggers> =
  | CollectedOf<EventOf<Exclude<OneOf<Triggers>, { cron: string }>>>
  | ([Extract<OneOf<Triggers>, { cron: string }>] extends [never] ? never : WorkflowEvent<CronData, 'engine/cron'>)

/** A batch of these events, each with the data of its name. */
type CollectedOf<Event extends WorkflowEvent> = WorkflowEvent<Event['data'][]> & {
  readonly events: readonly ReceivedOne<Event>[]
}

type ReceivedOne<Event extends WorkflowEvent> =
  Event extends WorkflowEvent<infer Data, infer Name> ? ReceivedEvent<Data, Name> : never

/**
 * The data to start a workflow with these triggers by hand: the input of one of the schemas; any data if there are only
 * schedules.
 */
export type SentIn<Triggers> = [DefinitionOf<OneOf<Triggers>>] extends [never]
  ? unknown
  : SentOf<DefinitionOf<OneOf<Triggers>>>

/** The data of a failed run's event, which is not validated: the input of one of the schemas, or of a schedule. */
export type FailedIn<Triggers> =
  | ([DefinitionOf<OneOf<Triggers>>] extends [never] ? never : SentOf<DefinitionOf<OneOf<Triggers>>>)
  | ([Extract<OneOf<Triggers>, { cron: string }>] extends [never] ? never : CronData)
  | (UntypedOf<Triggers> extends never ? never : DataNamed<UntypedOf<Triggers>['event']>)

/** The triggers by the name of an event without a schema. */
type UntypedOf<Triggers> = Extract<
  Exclude<OneOf<Triggers>, EventDefinition | { event: EventDefinition } | { cron: string }>,
  { event: unknown }
>

/**
 * `unknown` if a typed event is among the triggers, or if all are schedules and the engine's events; otherwise `never`. Selects
 * the overload.
 */
export type Typed<Triggers> = [DefinitionOf<OneOf<Triggers>>] extends [never]
  ? [OneOf<Triggers>] extends [{ cron: string } | { event: EngineEventName }]
    ? unknown
    : never
  : unknown

/** Validates the data of the event that started a run and returns the event with the schema's output. */
export type EventParser = (event: WorkflowEvent) => Promise<WorkflowEvent>

/** Returns a trigger in its registered form, and the schema of its event if it has one. */
export function readTrigger(trigger: AnyTrigger): { registered: WorkflowTrigger; schema?: StandardSchemaV1 } {
  if (isEventDefinition(trigger)) return { registered: { event: trigger.name }, schema: trigger.schema }
  const { event, ...rest } = trigger as { event?: string | EventDefinition }
  if (!isEventDefinition(event)) return { registered: trigger as WorkflowTrigger }
  return { registered: { event: event.name, ...rest }, schema: event.schema }
}

/** Validates a run's data with one schema, no matter what started the run. */
export function parseBy(workflow: string, schema: StandardSchemaV1): EventParser {
  const what = `The input of workflow "${workflow}"`
  return async event => ({ ...event, data: await validate(schema, event.data, { what, root: 'data' }) })
}

/**
 * Validates a run's data with the schemas of the triggers whose name matches the event's. A run that no trigger started (a child)
 * gets the name of the first event whose schema accepts its data, so that `event.name` still discriminates the type of
 * `event.data`. With `collected` the data is a list of payloads of any of the events. Returns undefined if no trigger has a
 * schema.
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
    // A trigger without a schema accepts any data.
    if (matching.some(({ schema }) => schema === undefined)) return event
    const candidates = matching.length > 0 ? matching : known
    const { data, name } = await firstAccepting(candidates, event.data, { what, root: 'data' })
    return { ...event, data, name: matching.length > 0 ? event.name : name }
  }
}

/** Name of the event that the engine creates for a run that a schedule started. */
const CRON_EVENT = 'engine/cron'

type Known = { readonly name: string; readonly schema: StandardSchemaV1 | undefined }

async function parseCollected(event: WorkflowEvent, known: readonly Known[], what: string): Promise<WorkflowEvent> {
  const events = known.filter(({ name }) => name !== CRON_EVENT)
  if (event.name === CRON_EVENT || events.some(({ schema }) => schema === undefined)) return event
  if (!Array.isArray(event.data)) throw new InvalidDataError(what, [{ path: 'data', message: 'not an array' }])
  const data: unknown[] = []
  const sent = (event as Partial<BatchEvent>).events ?? []
  for (const [index, payload] of event.data.entries()) {
    const matching = events.filter(({ name }) => matches(name, sent[index]?.name ?? ''))
    const candidates = matching.length > 0 ? matching : events
    data.push((await firstAccepting(candidates, payload, { what, root: `data.${index}` })).data)
  }
  return { ...event, data }
}

/** Returns the output of the first schema that accepts the value. Rejects with the error of the first schema if none does. */
async function firstAccepting(
  known: readonly Known[],
  value: unknown,
  { what, root }: Subject,
): Promise<{ name: string; data: unknown }> {
  let firstError: unknown
  for (const { name, schema } of known) {
    if (!schema) continue
    try {
      const data = await validate(schema, value, { what: `${what} (event "${name}")`, root })
      return { name, data }
    } catch (error) {
      // A schema that throws is broken: another schema must not hide that.
      if (!(error instanceof InvalidDataError)) throw error
      firstError ??= error
    }
  }
  throw firstError
}

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}
