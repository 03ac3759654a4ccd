// The client of the engine: `createClient()` sends events, starts runs, and has a method for each operation of the HTTP
// interface.

export type { Duration } from '@perdure/protocol/portable'
export type { Calls } from './calls.ts'
export { type Client, type ClientOptions, createClient, DEFAULT_URL } from './client.ts'
export { ApiError, ConnectionError, PerdureError } from './errors/call-errors.ts'
export { ConfigError } from './errors/config-error.ts'
export { type DataIssue, InvalidDataError, NonRetriableError } from './errors/data-errors.ts'
export { RunEndedError } from './errors/run-ended.ts'
export type { HandleOptions, RunHandle, SignalOptions, StartOptions, UpdateOptions, WorkflowRef } from './handle.ts'
export type { JsonCodec } from './http/exchange.ts'
export type { StreamSettings } from './http/stream.ts'
export type { Json, JsonArray, JsonObject, JsonValue, NoBigInt } from './json.ts'
export {
  type DataArguments,
  defineEvent,
  type EventDefinition,
  type NamesOf,
  type ReceivedOf,
  type SentOf,
} from './schema/event.ts'
export type { EventToSend, RunMethods, SendDefinedOptions, SendOptions } from './send.ts'
export type { CallOptions, FrameOf, Input, OperationMethods, Page } from './types.ts'
export type { InputPlace, OutputPlace, ValueMiddleware } from './values/middleware.ts'
