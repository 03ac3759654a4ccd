// A typed client of the HTTP API, derived from its operations: `createClient({url}).getRun({id})`.

export type { Calls } from './calls.ts'
export { type ClientOptions, createClient, DEFAULT_URL } from './client.ts'
export { ApiError, ConnectionError } from './errors.ts'
export type { JsonCodec } from './exchange.ts'
export type { StreamSettings } from './stream.ts'
export type { CallOptions, Client, FrameOf, Input, Page } from './types.ts'
