// Typed events: a name and a Standard Schema for its data. Triggers, waits, emits and the client take them in place
// of a bare name.

import type { StandardSchemaV1 } from '@standard-schema/spec'
import { NAME_CHARS_MAX } from '../limits.ts'
import { isSchema } from './validate.ts'

/** An event with typed data, made by {@link defineEvent}. */
export interface EventDefinition<Name extends string = string, Sent = unknown, Received = unknown> {
  readonly name: Name
  /** Its input type is what is sent, its output type what a handler receives. */
  readonly schema: StandardSchemaV1<Sent, Received>
}

/** What the data of an event must be when it is sent: its schema's input type. */
export type SentOf<Event extends EventDefinition> = StandardSchemaV1.InferInput<Event['schema']>

/** What the data of an event is when it is received: its schema's output type. */
export type ReceivedOf<Event extends EventDefinition> = StandardSchemaV1.InferOutput<Event['schema']>

/** The names that a trigger's name stands for: a trailing `*` matches everything that begins like it. */
export type NamesOf<Name extends string> = Name extends `${infer Start}*` ? `${Start}${string}` : Name

/**
 * Defines an event by its name and the schema of its data: any Standard Schema, as zod, valibot and arktype make them.
 * What is validated is the data as JSON, so a schema that wants a `Date` must make it out of a string.
 *
 * ```ts
 * const orderPaid = defineEvent('order/paid', z.object({ orderId: z.string(), cents: z.number().int() }))
 * ```
 *
 * As a trigger its name may end in `*`. Throws a TypeError when the name or the schema is none.
 */
export function defineEvent<const Name extends string, Schema extends StandardSchemaV1>(
  name: Name,
  schema: Schema,
): EventDefinition<Name, StandardSchemaV1.InferInput<Schema>, StandardSchemaV1.InferOutput<Schema>> {
  if (typeof name !== 'string' || name.trim() === '' || name.length > NAME_CHARS_MAX) {
    throw new TypeError(`An event's name must be a string of 1 to ${NAME_CHARS_MAX} characters`)
  }
  if (!isSchema(schema)) throw new TypeError(`The schema of event "${name}" is not a Standard Schema`)
  type Sent = StandardSchemaV1.InferInput<Schema>
  type Received = StandardSchemaV1.InferOutput<Schema>
  return { name, schema: schema as StandardSchemaV1<Sent, Received> }
}

/** Whether a value that names an event is a definition. */
export function isEventDefinition(value: unknown): value is EventDefinition {
  return typeof value === 'object' && value !== null && 'schema' in value && isSchema(value.schema)
}

/** The name of an event given by its name or its definition; anything else is given back for its user to refuse. */
export function eventNameOf(event: string | EventDefinition): string {
  return isEventDefinition(event) ? event.name : event
}
