// One HTTP exchange with the engine: builds the request of an operation, and turns its answer into a result or an
// error.

import { callKeptAlive, connectionRemedy, type ErrorBody, type KeptAliveAnswer, keyRemedy } from '@perdure/protocol'
import { ApiError, ConnectionError, codeOf, reasonOf } from './errors.ts'

/** How JSON is read and written. */
export interface JsonCodec {
  parse(text: string): unknown
  stringify(value: unknown): string
}

/** The address of the engine, and the means to call it. */
export interface Connection {
  /** Without a trailing slash. */
  readonly base: string
  readonly apiKey: string | undefined
  readonly fetch: typeof globalThis.fetch
  /** Whether the caller gave `fetch`: then every call goes through it. */
  readonly isOwnFetch: boolean
  readonly json: JsonCodec
}

/** Path values, query values and `body`, as the caller passed them. */
export type RawInput = Readonly<Record<string, unknown>>

export interface Request {
  method: string
  url: string
  headers: Record<string, string>
  body?: string
}

/**
 * Builds the request of a route: the input fills the placeholders of the path, `body` is the body, the rest the
 * query.
 */
export function requestOf(
  { base, apiKey, json }: Connection,
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
    url: base + path + (query.size > 0 ? `?${query}` : ''),
    headers,
    ...(body === undefined ? {} : { body: json.stringify(body) }),
  }
}

/** Parameters that are given once for each value: their values may contain commas. */
const REPEATED: ReadonlySet<string> = new Set(['attribute'])

function queryText(value: unknown): string | undefined {
  if (value === undefined || value === false) return undefined
  if (value === true) return '1'
  return value instanceof Date ? value.toISOString() : String(value)
}

/**
 * Sends the request and reads the whole answer within the deadline. Resolves with the JSON body and the headers of a
 * 2xx answer; rejects with an ApiError, a ConnectionError or, when the caller aborted, the signal's reason.
 */
export async function exchange(
  connection: Connection,
  request: Request,
  limits: { timeoutMs: number; signal: AbortSignal | undefined },
): Promise<{ json: unknown; headers: KeptAliveAnswer['headers'] }> {
  const { timeoutMs, signal } = limits
  const deadline = AbortSignal.timeout(timeoutMs)
  try {
    const call = { ...request, signal: signal ? AbortSignal.any([signal, deadline]) : deadline }
    const response = await (connection.isOwnFetch
      ? connection.fetch(request.url, call)
      : callKeptAlive(request.url, call))
    const text = await response.text()
    if (!response.ok) throw refusal(response.status, text, { isKeySent: connection.apiKey !== undefined })
    return { json: text === '' ? undefined : connection.json.parse(text), headers: response.headers }
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof ApiError) throw error
    if (deadline.aborted) throw new ConnectionError(request.url, `no answer within ${timeoutMs} ms`, error)
    throw unreachable(request.url, error)
  }
}

/** Turns an error of a request to `url` into a ConnectionError. */
export function unreachable(url: string, error: unknown): ConnectionError {
  if (error instanceof SyntaxError) return new ConnectionError(url, 'the answer is not JSON: is this an engine?', error)
  return new ConnectionError(
    url,
    `cannot reach the engine: ${reasonOf(error)}${connectionRemedy(codeOf(error))}`,
    error,
  )
}

/** The ApiError of an answer that is not 2xx. */
export function refusal(status: number, text: string, { isKeySent }: { isKeySent: boolean }): ApiError {
  const body = parse(text) as { error?: Partial<ErrorBody['error']> } | null | undefined
  const { code, message, details, requestId } = body?.error ?? {}
  if (typeof code === 'string' && typeof message === 'string') {
    const explained = status === 401 ? `${message}${keyRemedy(isKeySent)}` : message
    return new ApiError({ status, code, message: explained, details, requestId })
  }
  return new ApiError({
    status,
    code: 'unknown',
    message: `the engine answered ${status}`,
    details: body ?? text,
    requestId: undefined,
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
