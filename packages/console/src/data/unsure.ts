// The words for a write whose answer did not come: the engine may have done it before it went away.

import { ApiError } from '@perdure/client'
import type { OperationId } from './queries.ts'

interface Body {
  dryRun?: boolean
  secret?: unknown
  rotateSecret?: boolean
}

export const bodyOf = (input: unknown): Body => (input as { body?: Body }).body ?? {}

/** A server before the engine answers with a code of its own. */
const hasNoAnswer = (error: Error) =>
  error instanceof ApiError ? error.code.startsWith('http_5') : error.name === 'ConnectionError'

/** The error itself, unless the write may have been done: then one that says so. */
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
