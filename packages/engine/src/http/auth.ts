// Who may do what (decisions, "Errors, limits, auth"). Pure: `admit` calls it with the request's header.

import { EngineError } from '../domain/errors.ts'
import type { Actor, KeyKind, KeyRing } from './deps.ts'

/** The kinds of key that open each sort of route; a secret key opens everything. */
export const READERS: readonly KeyKind[] = ['secret', 'read']
export const EVENT_SENDERS: readonly KeyKind[] = ['secret', 'event']
export const RUNNERS: readonly KeyKind[] = ['secret', 'runner']
export const CONTROLLERS: readonly KeyKind[] = ['secret']

const OPEN: Actor = { namespace: 'default' }

/**
 * The actor behind an `Authorization` header, if a key of one of `kinds` opens the route. Without any key
 * configured everyone is let in, but a key that is given and wrong is refused even then: its sender
 * believes to be somewhere else.
 */
export function authenticate(
  keys: KeyRing,
  authorization: string | undefined,
  kinds: readonly KeyKind[],
): Actor {
  if (authorization === undefined) {
    if (keys.open) return OPEN
    throw new EngineError('unauthorized', 'an API key is required: Authorization: Bearer <key>')
  }
  const secret = bearerToken(authorization)
  const key = secret === undefined ? undefined : keys.find(secret)
  if (!key) throw new EngineError('unauthorized', 'the API key is not valid')
  if (!kinds.includes(key.kind)) {
    throw new EngineError('forbidden', `a key of kind ${key.kind} does not open this route`, {
      details: { kind: key.kind, needs: kinds },
    })
  }
  return { namespace: key.namespace, label: key.label }
}

/** The token of a `Bearer` header; the scheme's case does not matter (RFC 9110, section 11.1). */
function bearerToken(authorization: string): string | undefined {
  if (authorization.slice(0, 7).toLowerCase() !== 'bearer ') return undefined
  const token = authorization.slice(7).trim()
  return token === '' ? undefined : token
}
