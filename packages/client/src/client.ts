// Creates the client: the operations of the HTTP interface, and `send`, `start` and `run` on them.

import { DEFAULT_ENGINE_URL } from '@perdure/protocol/portable'
import { PerdureError } from './errors/call-errors.ts'
import type { JsonCodec } from './http/exchange.ts'
import type { StreamSettings } from './http/stream.ts'
import { type OptionNames, refuseUnknownOptions } from './schema/known-options.ts'
import { type RunMethods, runMethodsOf } from './send.ts'
import { createAllOperations } from './streams.ts'
import type { OperationMethods } from './types.ts'
import type { ValueMiddleware } from './values/middleware.ts'
import { checkMiddleware, ValueChain } from './values/value-chain.ts'

/** The engine that a client calls, and how. */
export interface ClientOptions {
  /**
   * Base URL of the engine, or those of several engines of one cluster: a list, or a text with commas. Their paths are kept as
   * prefixes. Default: `ENGINE_URL`, else `http://127.0.0.1:4777`.
   */
  url?: string | readonly string[] | undefined
  /** Sent as `Authorization: Bearer`. Default: `ENGINE_API_KEY`, or the content of the file in `ENGINE_API_KEY_FILE`. */
  apiKey?: string | undefined
  /** The app whose workflows `start` starts, if the call names none. */
  app?: string
  /**
   * Deadline of every call except streams, beyond the time that the call has the engine wait. Default: 10 s for `send`, `start`
   * and the handles of runs, 30 s for the operations.
   */
  timeoutMs?: number
  /**
   * Middleware whose `transformOutput` changes the data of sent events and the input of started runs, the last first; for example,
   * to encrypt it. Its `transformInput` changes their results. The operations take and give what the engine stores.
   */
  middleware?: readonly ValueMiddleware[]
  /** Takes every call. Default: the global `fetch`; on Node a pool of kept-alive connections. */
  fetch?: typeof globalThis.fetch
  /** How streams detect dead connections and reconnect. */
  stream?: Partial<StreamSettings>
  /** Reads answers and writes bodies instead of `JSON`, for callers that keep numbers to the last digit. Streams use `JSON`. */
  json?: JsonCodec
}

/** The address of an engine on this machine, which a client without a URL calls. */
export const DEFAULT_URL = DEFAULT_ENGINE_URL

const RUN_TIMEOUT_MS = 10_000

const OPTIONS: OptionNames<ClientOptions> = {
  url: true,
  apiKey: true,
  app: true,
  timeoutMs: true,
  middleware: true,
  fetch: true,
  stream: true,
  json: true,
}

const STREAM_OPTIONS: OptionNames<StreamSettings> = {
  silenceMs: true,
  retryMs: true,
  retryMsMax: true,
  attemptsMax: true,
}

/** A client of one engine: `send`, `start` and `run` for the runs of apps, and a method for each operation of the HTTP interface. */
export type Client = RunMethods & OperationMethods

/**
 * Creates a client of one engine. Throws a TypeError for an invalid URL, and a ConfigError for an invalid environment variable.
 * Opens no connection before the first call.
 */
export function createClient(options: ClientOptions = {}): Client {
  refuseUnknownOptions('createClient', options, OPTIONS)
  refuseUnknownOptions('createClient: stream', options.stream ?? {}, STREAM_OPTIONS)
  const { app, timeoutMs = RUN_TIMEOUT_MS, middleware } = options
  checkMiddleware(middleware, 'The client')
  const operations = createAllOperations({ ...options, json: withRefusal(options.json ?? JSON) })
  return { ...operations, ...runMethodsOf({ operations, app, timeoutMs, middleware: new ValueChain(middleware) }) }
}

/** Wraps the codec so that it throws a PerdureError for a body that has no JSON form. */
function withRefusal(json: JsonCodec): JsonCodec {
  const stringify = (body: unknown) => {
    try {
      return json.stringify(body)
    } catch (error) {
      const message = `The request cannot be sent as JSON: ${error instanceof Error ? error.message : error}`
      throw new PerdureError({ code: 'invalid_json', status: 0, message }, { cause: error })
    }
  }
  return { parse: text => json.parse(text), stringify }
}
