// Typed events: a name and a Standard Schema for its data. Triggers, waits, emits and the client accept a definition
// wherever they accept a bare name.

import { NAME_CHARS_MAX } from '@perdure/protocol/portable'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { isSchema } from './validate.ts'

/** An event with typed data, made by {@link defineEvent}. */
export interface EventDefinition<Name extends string = string, Sent = unknown, Received = unknown> {
  readonly name: Name
  /** Senders give the schema's input type, handlers receive its output type. */
  readonly schema: StandardSchemaV1<Sent, Received>
}

/** The data that is sent with an event: its schema's input type. */
export type SentOf<Event extends EventDefinition> = StandardSchemaV1.InferInput<Event['schema']>

/** The data that is received with an event: its schema's output type. */
export type ReceivedOf<Event extends EventDefinition> = StandardSchemaV1.InferOutput<Event['schema']>

/** The event names that a trigger's name matches: with a trailing `*`, every name that begins with what precedes it. */
export type NamesOf<Name extends string> = Name extends `${infer Start}*` ? `${Start}${string}` : Name

/** The arguments `data` and `options`. `data` is optional when its type includes `undefined`. */
export type DataArguments<Data, Options> = undefined extends Data
  ? [data?: Data, options?: Options]
  : [data: Data, options?: Options]

/**
 * Defines an event by its name and the schema of its data. Any Standard Schema will do, such as one of zod, valibot or
 * arktype. The data is validated as JSON, so a schema that gives a `Date` must make it from a string.
 *
 * ```ts
 * const orderPaid = defineEvent('order/paid', z.object({ orderId: z.string(), cents: z.number().int() }))
 * ```
 *
 * The name may end in `*` if the event is used as a trigger. Throws a TypeError when the name is not a name or the
 * schema not a Standard Schema.
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

/** Whether a value that names an event is an event definition. */
export function isEventDefinition(value: unknown): value is EventDefinition {
  return typeof value === 'object' && value !== null && 'schema' in value && isSchema(value.schema)
}

/** Returns the name of an event. Any value that is not a definition is returned unchanged: the caller validates it. */
export function eventNameOf(event: string | EventDefinition): string {
  return isEventDefinition(event) ? event.name : event
}
