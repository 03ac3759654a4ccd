// The error codes that an operation can answer: its own, and those that follow from its method and access. The OpenAPI
// document and `docs/http-api` list them, and the hostile-input scenario checks the engine against them.

import { API_ERROR_STATUS, type ApiErrorCode } from '../api/error-codes.ts'
import type { Operation } from './operation.ts'

/** Codes of every operation except probes: a malformed URL or parameter, an engine that shuts down, a defect. */
const ALWAYS: readonly ApiErrorCode[] = ['invalid_request', 'unavailable', 'internal']
/** Codes of every operation that needs a key; `rate_limited` after many wrong keys of one address. */
const KEYED: readonly ApiErrorCode[] = ['unauthorized', 'forbidden', 'rate_limited']
/** Codes of writes. An operation without a body still checks a body that is sent; only writes can wait for the disk. */
const WRITING: readonly ApiErrorCode[] = ['unsupported_media_type', 'payload_too_large', 'overloaded']

/** Every code the operation can answer, ordered as in the catalogue. */
export function errorsOf(operation: Operation): ApiErrorCode[] {
  const { access, errors = [], method, path, probe, rawBody } = operation
  const codes = new Set<ApiErrorCode>([
    ...errors,
    ...(probe ? [] : ALWAYS),
    ...(access === 'public' ? [] : KEYED),
    ...(method === 'GET' ? [] : WRITING),
    // A text in the path that is longer than any id.
    ...(path.includes('{') ? (['not_found'] as const) : []),
    ...(method === 'GET' || rawBody ? [] : (['invalid_json'] as const)),
  ])
  return (Object.keys(API_ERROR_STATUS) as ApiErrorCode[]).filter(code => codes.has(code))
}
