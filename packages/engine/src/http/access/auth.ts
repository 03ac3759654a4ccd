// Who may do what (decisions, "Errors, limits, auth"). Pure: `admit` calls it with the request's header.

import type { Access, Operation } from '@perdure/protocol/operations'
import type { KeyKind } from '../../domain/model/api-key.ts'
import { EngineError } from '../../domain/model/errors.ts'
import type { KeyRing } from '../../services/admin/keys.ts'
import type { Actor } from '../../services/run/audit.ts'

/** The kinds of key that open an operation; a secret key opens everything. */
export const KINDS: Record<Exclude<Access, 'public'>, readonly KeyKind[]> = {
  read: ['secret', 'read'],
  event: ['secret', 'event'],
  runner: ['secret', 'runner'],
  secret: ['secret'],
}

const OPEN: Actor = { namespace: 'default' }

/** What is looked at of a request's headers. */
export interface Credentials {
  authorization?: string | undefined
  host?: string | undefined
  origin?: string | undefined
}

/**
 * The actor behind a request, if its key opens the operation. While no key was ever made everyone on this machine
 * is let in, except where the contract asks for a key in every case; but a key that is given and wrong is refused
 * even then: its sender believes to be somewhere else.
 */
export function authenticate(
  keys: KeyRing,
  { authorization, host, origin }: Credentials,
  { access, alwaysKeyed }: Pick<Operation, 'access' | 'alwaysKeyed'>,
  corsOrigins: readonly string[] = [],
): Actor {
  if (access === 'public') return OPEN
  if (authorization === undefined) {
    if (!keys.open || alwaysKeyed)
      throw new EngineError('unauthorized', 'an API key is required: Authorization: Bearer <key>')
    refuseForeignHost(host)
    refuseForeignPage(origin, corsOrigins)
    return OPEN
  }
  const secret = bearerToken(authorization)
  const key = secret === undefined ? undefined : keys.find(secret)
  if (!key) throw new EngineError('unauthorized', 'the API key is not valid')
  if (!KINDS[access].includes(key.kind)) {
    throw new EngineError('forbidden', `a key of kind ${key.kind} does not open this route`, {
      details: { kind: key.kind, needs: KINDS[access] },
    })
  }
  return { namespace: key.namespace, label: key.label }
}

/** Whether who was let in as `actor` would be let in as the same now: keys come and go while a stream or socket is open. */
export function isStillAdmitted(actor: Actor, ...asked: Parameters<typeof authenticate>): boolean {
  try {
    return authenticate(...asked).namespace === actor.namespace
  } catch (error) {
    if (error instanceof EngineError) return false
    throw error
  }
}

/**
 * A page of anywhere may post to localhost: the browser only keeps the answer from it. It does say where the page is
 * from, and pages that were not let in by `ENGINE_CORS_ORIGINS` get nothing done.
 */
function refuseForeignPage(origin: string | undefined, corsOrigins: readonly string[]): void {
  if (origin === undefined || corsOrigins.includes('*') || corsOrigins.includes(origin)) return
  if (/^https?:\/\//.test(origin) && LOOPBACK_HOST.test(origin.replace(/^https?:\/\//, ''))) return
  throw new EngineError(
    'forbidden',
    'without API keys the engine serves no web pages of other origins: list them in ENGINE_CORS_ORIGINS',
  )
}

/** The token of a `Bearer` header; the scheme's case does not matter (RFC 9110, section 11.1). */
function bearerToken(authorization: string): string | undefined {
  if (authorization.slice(0, 7).toLowerCase() !== 'bearer ') return undefined
  const token = authorization.slice(7).trim()
  return token === '' ? undefined : token
}

const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i

/**
 * Without keys, being on this machine is the only credential, and a browser on it runs pages from anywhere. A page
 * whose name was made to resolve to loopback (DNS rebinding) still sends that name as `Host`.
 */
function refuseForeignHost(host = ''): void {
  if (LOOPBACK_HOST.test(host)) return
  throw new EngineError(
    'forbidden',
    'without API keys the engine answers only as localhost: Host must be a loopback name or address',
  )
}
