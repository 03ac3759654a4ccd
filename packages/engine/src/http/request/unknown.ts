// Refuses query parameters and members of bodies that the operation does not know, or warns of them
// (docs/errors.md#how-requests-are-checked). Called by mount.ts for every operation.

import { cutText, hintFor, quoteName } from '@perdure/protocol'
import type { Operation } from '@perdure/protocol/operations'
import type { FastifyRequest } from 'fastify'
import { EngineError, invalid } from '../../domain/model/errors.ts'
import { unknownMembers } from '../../domain/registry/unknown-members.ts'
import { bodyOf } from './body.ts'

/** Further unknown members are not named. */
const WARNINGS_MAX = 20
const NO_MEMBERS = { properties: {} }

/** Throws if the query has a parameter that the operation does not know. Names that begin with `_` belong to the caller. */
export function refuseUnknownParameters(request: FastifyRequest, operation: Operation): void {
  const { method, path, query = {}, anyQuery, runToken } = operation
  if (anyQuery) return
  for (const name in request.query as object) {
    // A run token in the query has already been handled.
    if (Object.hasOwn(query, name) || name.startsWith('_') || (runToken && name === 'token')) continue
    const what = `${quoteName(name)} is not a query parameter of ${method} ${path}`
    throw refused(name, `${what}${hintFor(name, Object.keys(query))}`)
  }
}

/**
 * Throws if the body has a member that is fixed, or that the operation does not know. A caller must not believe that an
 * ignored member had an effect.
 */
export function refuseUnknownMembers(
  request: FastifyRequest,
  { body, rawBody }: Operation,
  fixed: Readonly<Record<string, string>>,
): void {
  if (rawBody || body?.anyMembers) return
  const value = bodyOf(request)?.value
  if (typeof value !== 'object' || value === null) return
  for (const [field, problem] of Object.entries(fixed)) {
    if (Object.hasOwn(value, field)) throw invalid(field, problem)
  }
  const [unknown] = unknownMembers(body?.schema ?? NO_MEMBERS, value, 1)
  if (unknown) throw refused(unknown.field, unknown.problem)
}

/** Returns sentences about the members of the body that the operation does not know. */
export function warningsOf(value: unknown, { body }: Operation): string[] {
  return unknownMembers(body?.schema ?? NO_MEMBERS, value, WARNINGS_MAX).map(({ problem }) => problem)
}

function refused(field: string, problem: string): EngineError {
  return new EngineError('invalid_request', problem, { details: { field: cutText(field, FIELD_CHARS_MAX) } })
}

const FIELD_CHARS_MAX = 256
