// Turns a thrown error into the error body (docs/errors.md). The only file of the engine that maps errors to HTTP statuses.
// Called by fastify's error paths and by raw responses.

import { API_ERROR_STATUS } from '@perdure/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { EngineError, type ErrorCode } from '../../domain/model/errors.ts'
import { PROTECTIVE_HEADERS } from './protective-headers.ts'
import { sendJson } from './reply.ts'

/** Returns the status for an error with this code. */
export function statusOf(code: ErrorCode): number {
  return API_ERROR_STATUS[code]
}

/** Fastify's errors as errors of the engine. Its other 4xx errors become `invalid_request`. */
const FRAMEWORK: Record<string, [ErrorCode, string]> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'the content type must be application/json'],
  FST_ERR_BAD_URL: ['invalid_request', 'the URL is malformed'],
  // No id is that long.
  FST_ERR_MAX_PARAM_LENGTH: ['not_found', 'no such resource'],
}

/** Answers with `error`, and logs errors that concern the operator. */
export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply, log: Logger): void {
  const known = asEngineError(error)
  const status = API_ERROR_STATUS[known.code]
  if (status >= 500) logFailure(log, error, known.code, request)
  // If fastify itself refuses, the hooks that set these have not run.
  reply.header('x-request-id', request.id).headers(PROTECTIVE_HEADERS)
  for (const [name, value] of extraHeaders(known)) reply.header(name, value)
  sendJson(reply, status, problemText(known, request.id))
}

/** Returns the error body. For an `internal` error it contains only the request id. */
export function problemText(error: EngineError, requestId: string): string {
  const hidden = error.code === 'internal'
  const message = hidden ? 'the engine failed; its log has the details under this request id' : error.message
  const details = hidden ? undefined : error.details
  return JSON.stringify({ error: { code: error.code, message, details, requestId } })
}

/** The payload of a Connect `error` frame: the error body without a request id. */
export function problemOf(error: unknown): { code: ErrorCode; message: string; details?: unknown } {
  const known = asEngineError(error)
  if (known.code === 'internal') return { code: known.code, message: 'the engine failed; its log has the details' }
  const { code, message, details } = known
  return { code, message, ...(details === undefined ? {} : { details }) }
}

function asEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error
  if (error instanceof Error && 'code' in error && String(error.code).startsWith('FST_')) {
    const known = FRAMEWORK[String(error.code)]
    if (known) return new EngineError(known[0], known[1], { cause: error })
    const status = 'statusCode' in error ? Number(error.statusCode) : 500
    if (status >= 400 && status < 500) {
      return new EngineError('invalid_request', 'the request is malformed', { cause: error })
    }
  }
  return new EngineError('internal', 'unexpected error', { cause: error })
}

/** The headers that the status of the error requires. */
export function extraHeaders(error: EngineError): [string, string][] {
  const status = API_ERROR_STATUS[error.code]
  if (status === 401) return [['www-authenticate', 'Bearer']]
  if (status === 429 || status === 503) return [['retry-after', String(retryAfterS(error))]]
  const allow = status === 405 ? error.details?.allow : undefined
  return Array.isArray(allow) ? [['allow', allow.join(', ')]] : []
}

/** Whole seconds, as the header requires. */
function retryAfterS({ details }: EngineError): number {
  const ms = details?.retryAfterMs
  return typeof ms === 'number' ? Math.max(1, Math.ceil(ms / 1000)) : 1
}

/** An `overloaded` is expected under load and must not add to it, so it is logged at debug. */
function logFailure(log: Logger, error: unknown, code: ErrorCode, request: FastifyRequest): void {
  const level = code === 'internal' ? 'error' : code === 'unavailable' ? 'warn' : 'debug'
  if (!log.isLevelEnabled(level)) return
  const { method, id: requestId } = request
  const route = request.routeOptions.url
  log[level]({ err: error, code, method, route, requestId }, 'request failed')
}
