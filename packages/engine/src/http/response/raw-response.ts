// An error response as text, for a socket without a response object: malformed requests and refused upgrades.

import { STATUS_CODES } from 'node:http'
import type { EngineError } from '../../domain/model/errors.ts'
import { extraHeaders, problemText } from './problem.ts'
import { PROTECTIVE_HEADERS } from './protective-headers.ts'

/** Returns the whole response, with `headers` added; after it the connection closes. */
export function rawResponse(
  status: number,
  error: EngineError,
  requestId: string,
  headers: readonly [string, string][] = [],
): string {
  const body = problemText(error, requestId)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    'connection: close',
    ...[...Object.entries(PROTECTIVE_HEADERS), ...extraHeaders(error), ...headers].map(
      ([name, value]) => `${name}: ${value}`,
    ),
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
