// Sends one request to the engine, over kept-alive connections and with a deadline: a POST with JSON, or a GET. Every failure is a
// PerdureError. Called by the client and the registration.

import { callKeptAlive, connectionRemedy, type KeptAliveAnswer, keyRemedy } from '@perdure/protocol'
import { PerdureError } from '../wire/errors.ts'

interface EngineRequest {
  /** Absolute URL. */
  url: string
  apiKey: string | undefined
  body?: unknown
  /** When this signal aborts, the request rejects with its reason. */
  signal?: AbortSignal | undefined
  timeoutMs: number
  /** Whether a POST may reach the engine twice: its repeat changes nothing. */
  isRepeatable?: boolean | undefined
}

/** Sends the request and returns the parsed body of a 2xx response. Rejects with a PerdureError. */
export function postToEngine<Reply>(request: EngineRequest & { body: unknown }): Promise<Reply> {
  return callEngine<Reply>('POST', request)
}

/** Reads, and returns the parsed body of a 2xx response. Rejects with a PerdureError. */
export function getFromEngine<Reply>(request: Omit<EngineRequest, 'body'>): Promise<Reply> {
  return callEngine<Reply>('GET', request)
}

async function callEngine<Reply>(method: 'GET' | 'POST', request: EngineRequest): Promise<Reply> {
  const body = method === 'POST' ? encode(request.body) : undefined
  const deadline = AbortSignal.timeout(request.timeoutMs)
  const signal = request.signal ? AbortSignal.any([request.signal, deadline]) : deadline
  const headers: Record<string, string> = { accept: 'application/json' }
  if (method === 'POST') headers['content-type'] = 'application/json'
  if (request.apiKey !== undefined) headers.authorization = `Bearer ${request.apiKey}`
  let response: KeptAliveAnswer
  let text: string
  try {
    response = await callKeptAlive(request.url, { method, headers, body, signal, isRepeatable: request.isRepeatable })
    text = await response.text()
  } catch (error) {
    request.signal?.throwIfAborted()
    throw transportError(error, { timedOut: deadline.aborted, request })
  }
  const parsed = parse(text)
  if (!response.ok) throw refusal(response, { parsed, text, isKeySent: request.apiKey !== undefined })
  if (parsed === undefined) {
    const message = `The engine's answer is not JSON (HTTP ${response.status})`
    throw new PerdureError({ code: 'invalid_response', status: response.status, message })
  }
  return parsed as Reply
}

/**
 * Whether a status refuses the request itself, so that a retry gets the same answer: a 4xx other than a timeout and a
 * rate limit.
 */
export function isRefusalStatus(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429
}

function encode(body: unknown): string {
  try {
    return JSON.stringify(body)
  } catch (error) {
    const message = `The request cannot be sent as JSON: ${error instanceof Error ? error.message : error}`
    throw new PerdureError({ code: 'invalid_json', status: 0, message }, { cause: error })
  }
}

function transportError(error: unknown, at: { timedOut: boolean; request: EngineRequest }): PerdureError {
  const { url, timeoutMs } = at.request
  if (at.timedOut) {
    const message = `No answer from the engine within ${timeoutMs} ms (${url})`
    return new PerdureError({ code: 'timeout', status: 0, message }, { cause: error })
  }
  const cause = causeOf(error)
  const reason = cause instanceof Error ? cause.message || cause.name : String(cause)
  const message = `The engine cannot be reached at ${url}: ${reason}${connectionRemedy((cause as { code?: unknown })?.code)}`
  return new PerdureError({ code: 'unreachable', status: 0, message }, { cause: error })
}

function causeOf(error: unknown): unknown {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  // A host with several addresses fails with one error per address, in an AggregateError without a message.
  return cause instanceof AggregateError ? cause.errors[0] : cause
}

function refusal(
  response: KeptAliveAnswer,
  { parsed, text, isKeySent }: { parsed: unknown; text: string; isKeySent: boolean },
): PerdureError {
  const given = (parsed as { error?: { code?: unknown; message?: unknown; requestId?: unknown } } | undefined)?.error
  const requestId = typeof given?.requestId === 'string' ? given.requestId : response.headers.get('x-request-id')
  const reason = typeof given?.message === 'string' ? given.message : text.slice(0, 200) || response.statusText
  return new PerdureError({
    code: typeof given?.code === 'string' ? given.code : `http_${response.status}`,
    status: response.status,
    message: response.status === 401 ? `${reason}${keyRemedy(isKeySent)}` : reason,
    ...(requestId && { requestId }),
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
