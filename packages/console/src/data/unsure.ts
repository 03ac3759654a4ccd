// The text for a write without an answer: the engine may have carried it out before it went away.

import { ApiError } from '@perdure/client'
import type { OperationId } from './queries.ts'

interface Body {
  dryRun?: boolean
  secret?: unknown
  rotateSecret?: boolean
}

export const bodyOf = (input: unknown): Body => (input as { body?: Body }).body ?? {}

/** Whether the engine gave no answer: the connection broke, or a server in front of it answered. The engine has its own codes. */
const hasNoAnswer = (error: Error) =>
  error instanceof ApiError ? error.code.startsWith('http_5') : error.name === 'ConnectionError'

/** Returns the error itself, or one that explains that the write may have been carried out. */
export function withUnsure(error: Error, id: OperationId, input: unknown): Error {
  const body = bodyOf(input)
  if (body.dryRun || !hasNoAnswer(error)) return error
  const text = `${error.message}. It may have succeeded: check before you retry.`
  return new Error(text + lostSecret(id, body), { cause: error })
}

function lostSecret(id: OperationId, { secret, rotateSecret }: Body): string {
  if (rotateSecret) return ' The new secret was not shown: rotate it again.'
  return id.startsWith('create') && secret === undefined
    ? ' If it was created, its secret was not shown: delete it.'
    : ''
}
