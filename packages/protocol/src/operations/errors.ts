// Which error codes an operation can answer: its own, and those that come with what it is. The OpenAPI document and
// `docs/http-api.md` list them from here, and the hostile-input scenario holds the engine to it.

import { API_ERROR_STATUS, type ApiErrorCode } from '../api-error.ts'
import type { Operation } from './operation.ts'

/** A malformed URL or parameter; an engine that shuts down; its own defects. */
const ALWAYS: readonly ApiErrorCode[] = ['invalid_request', 'unavailable', 'internal']
const KEYED: readonly ApiErrorCode[] = ['unauthorized', 'forbidden']
/** A body is read and refused even by an operation that wants none; and only writes wait in line for the disk. */
const WRITING: readonly ApiErrorCode[] = ['unsupported_media_type', 'payload_too_large', 'overloaded']

/** Every code the operation can answer, ordered as in the catalogue. */
export function errorsOf(operation: Operation): ApiErrorCode[] {
  const { access, errors, method, probe, rawBody } = operation
  const codes = new Set<ApiErrorCode>([
    ...errors,
    ...(probe ? [] : ALWAYS),
    ...(access === 'public' ? [] : KEYED),
    ...(method === 'GET' ? [] : WRITING),
    ...(method === 'GET' || rawBody ? [] : (['invalid_json'] as const)),
  ])
  return (Object.keys(API_ERROR_STATUS) as ApiErrorCode[]).filter(code => codes.has(code))
}
