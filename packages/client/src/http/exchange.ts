// One HTTP exchange with the engine: builds the request of an operation, and turns its answer into a result or an
// error. Called by the operations, and by the SDK for its registration.

import {
  callAnyEngine,
  connectionRemedy,
  type EngineAnswer,
  type EngineList,
  type ErrorBody,
  type ForeignAnswer,
  foreignAnswer,
  foreignRemedy,
  keyRemedy,
} from '@perdure/protocol/portable'
import { ApiError, ConnectionError, codeOf, PerdureError, reasonOf } from '../errors/call-errors.ts'
import { enginesOf, readEnvironment } from './environment.ts'

/** How JSON is read and written. */
export interface JsonCodec {
  parse(text: string): unknown
  stringify(value: unknown): string
}

/** The engines of one cluster, and the means to call them. */
export interface Connection {
  readonly engines: EngineList
  readonly apiKey: string | undefined
  readonly fetch: typeof globalThis.fetch
  /** Whether the caller gave `fetch`: then every call goes through it. */
  readonly isOwnFetch: boolean
  readonly json: JsonCodec
}

/**
 * Makes the connection that options and the environment describe. Throws a TypeError for an invalid URL, and a ConfigError for an
 * invalid variable.
 */
export function connectionOf(options: {
  url?: string | readonly string[] | undefined
  apiKey?: string | undefined
  fetch?: typeof globalThis.fetch
  json?: JsonCodec
}): Connection {
  return {
    engines: enginesOf(options.url),
    apiKey: options.apiKey ?? readEnvironment('ENGINE_API_KEY'),
    fetch: options.fetch ?? globalThis.fetch,
    isOwnFetch: options.fetch !== undefined,
    json: options.json ?? JSON,
  }
}

/** Path values, query values and `body`, as the caller passed them. */
export type RawInput = Readonly<Record<string, unknown>>

export interface Request {
  method: string
  /** Path and query. */
  path: string
  headers: Record<string, string>
  body?: string
}

/**
 * Builds the request of a route: the input fills the placeholders of the path, `body` is the body, the rest the
 * query.
 */
export function requestOf(
  { apiKey, json }: Connection,
  route: { method: string; path: string },
  input: RawInput,
): Request {
  const { body, ...rest } = input
  const values: Record<string, unknown> = rest
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name]
    delete values[name]
    if (typeof value !== 'string' || value === '') throw new TypeError(`${name} must be a non-empty string`)
    return encodeURIComponent(value)
  })
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) {
    for (const each of REPEATED.has(name) ? [value].flat() : [value]) {
      const text = queryText(each)
      if (text !== undefined) query.append(name, text)
    }
  }
  const headers: Record<string, string> = {}
  if (apiKey !== undefined) headers.authorization = `Bearer ${apiKey}`
  if (body !== undefined) headers['content-type'] = 'application/json'
  return {
    method: route.method,
    path: path + (query.size > 0 ? `?${query}` : ''),
    headers,
    ...(body === undefined ? {} : { body: json.stringify(body) }),
  }
}

/** Parameters given once for each value: their values may contain commas. */
const REPEATED: ReadonlySet<string> = new Set(['attribute'])

function queryText(value: unknown): string | undefined {
  if (value === undefined || value === false) return undefined
  if (value === true) return '1'
  return value instanceof Date ? value.toISOString() : String(value)
}

interface Limits {
  timeoutMs: number
  /** The part of `timeoutMs` that the engine may take because the caller makes it wait. */
  waitMs?: number
  signal: AbortSignal | undefined
  /** Whether the request may reach the engine twice. Default: whether its method is idempotent. */
  isRepeatable?: boolean | undefined
}

/**
 * Sends the request and reads the whole answer within the deadline. Resolves with the JSON body and the headers of a
 * 2xx answer; rejects with an ApiError, a ConnectionError or, when the caller aborted, the signal's reason.
 */
export async function exchange(
  connection: Connection,
  request: Request,
  limits: Limits,
): Promise<{ json: unknown; headers: EngineAnswer['headers'] }> {
  const { timeoutMs, waitMs, signal, isRepeatable } = limits
  const { engines } = connection
  const deadline = AbortSignal.timeout(timeoutMs)
  try {
    const response = await callAnyEngine(engines, {
      ...request,
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
      timeoutMs,
      waitMs,
      isRepeatable,
      ...(connection.isOwnFetch ? { send: connection.fetch } : {}),
    })
    const { url, status, text, headers } = response
    const answer = { url, status, body: text }
    if (!response.ok) throw refusal({ ...answer, headers }, connection.apiKey !== undefined)
    return { json: status === 204 ? undefined : read(connection.json, answer), headers }
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof PerdureError) throw error
    const url = addressOf(engines, request)
    if (deadline.aborted)
      throw new ConnectionError(url, `no answer within ${timeoutMs} ms`, { code: 'timeout', cause: error })
    throw unreachable(url, error)
  }
}

/** For messages: the address of the call, or of all engines if there are several. */
export function addressOf(engines: EngineList, { path }: Request): string {
  return engines.size === 1 ? engines.url + path : `${engines}`
}

function read(json: JsonCodec, answer: ForeignAnswer): unknown {
  try {
    return json.parse(answer.body)
  } catch (error) {
    throw notFromEngine('JSON', answer, error)
  }
}

/** The ConnectionError for an answer to a stream's request that is not a stream. */
export const noStream = (answer: ForeignAnswer): ConnectionError => notFromEngine('a stream', answer)

function notFromEngine(kind: string, answer: ForeignAnswer, cause?: unknown): ConnectionError {
  const { url, status } = answer
  const reason = `the answer is not ${kind}: ${foreignAnswer(answer)}${foreignRemedy(status)}`
  return new ConnectionError(url, reason, { code: 'invalid_response', status, cause })
}

/** Turns an error of a request to `url` into a ConnectionError. */
export function unreachable(url: string, error: unknown): ConnectionError {
  const reason = `cannot reach the engine: ${reasonOf(error)}${connectionRemedy(codeOf(error))}`
  return new ConnectionError(url, reason, { cause: error })
}

/** The ApiError of an answer that is not 2xx. */
export function refusal(
  { headers, ...answer }: ForeignAnswer & { headers: Pick<Headers, 'get'> },
  isKeySent: boolean,
): ApiError {
  const { status, body: text } = answer
  const body = parseJson(text) as { error?: Partial<ErrorBody['error']> } | null | undefined
  const { code, message, details, requestId = headers.get('x-request-id') ?? undefined } = body?.error ?? {}
  if (typeof code === 'string' && typeof message === 'string') {
    const explained = status === 401 ? `${message}${keyRemedy(isKeySent)}` : message
    return new ApiError({ status, code, message: explained, details, requestId })
  }
  return new ApiError({
    status,
    code: `http_${status}`,
    message: `${foreignAnswer(answer)}${foreignRemedy(status)}`,
    details: body ?? text,
    requestId,
  })
}

/** Returns undefined for a text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
