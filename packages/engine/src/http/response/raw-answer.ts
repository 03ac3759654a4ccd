// An error answer as bytes, for a socket that has no response: bytes that were no request, and upgrades that are refused.

import { STATUS_CODES } from 'node:http'
import type { EngineError } from '../../domain/model/errors.ts'
import { extraHeaders, problemText } from './problem.ts'

/** The whole answer; the connection is closed behind it. `headers` come on top. */
export function rawAnswer(
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
    ...[...extraHeaders(error), ...headers].map(([name, value]) => `${name}: ${value}`),
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
