// An error answer as bytes, for a socket that has no response: bytes that were no request, and upgrades that are refused.

import { STATUS_CODES } from 'node:http'
import type { EngineError } from '../domain/errors.ts'
import { problemText } from './problem.ts'

/** The whole answer; the connection is closed behind it. */
export function rawAnswer(status: number, error: EngineError, requestId: string): string {
  const body = problemText(error, requestId)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    'connection: close',
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
