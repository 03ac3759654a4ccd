// `@perdure/sdk` in a browser: definitions of events, and the client that sends them. The rest of the SDK needs Node.

export * from './client/client.ts'
export {
  defineEvent,
  type EventDefinition,
  type NamesOf,
  type ReceivedOf,
  type SentOf,
} from './schema/event.ts'
export { ConfigError, type DataIssue, InvalidDataError, PerdureError } from './wire/errors.ts'
export type { Json } from './wire/json.ts'
