// Authenticates requests by their API key (docs/security.md#keys-and-namespaces). Pure. Called by admit.ts.

import type { Access, Operation } from '@perdure/protocol/operations'
import type { KeyKind } from '../../domain/model/api-key.ts'
import { EngineError } from '../../domain/model/errors.ts'
import type { KeyRing } from '../../services/admin/keys.ts'
import type { Actor } from '../../services/commit/audit.ts'

/** By access of an operation: the kinds of key that open it. A secret key opens everything. */
export const KINDS: Record<Exclude<Access, 'public'>, readonly KeyKind[]> = {
  read: ['secret', 'read'],
  event: ['secret', 'event'],
  runner: ['secret', 'runner'],
  secret: ['secret'],
}

const OPEN: Actor = { namespace: 'default' }

/** The headers of a request that authentication reads. */
export interface Credentials {
  authorization?: string | undefined
  host?: string | undefined
  origin?: string | undefined
  /** Set by browsers: the relation between the page that sends the request and the engine (Fetch Metadata). */
  'sec-fetch-site'?: string | string[] | undefined
}

/** The keys that a request needs. */
export interface Needs extends Pick<Operation, 'access' | 'alwaysKeyed'> {
  /** Whether keys that may only read are sufficient. */
  alsoReaders?: boolean
}

/**
 * Returns the actor behind a request, if its key opens the operation. Until the first key is made everyone on this machine may
 * call (docs/security.md#without-keys), except operations that always require a key. A wrong key is refused even then: its sender
 * means another engine.
 */
export function authenticate(
  keys: KeyRing,
  credentials: Credentials,
  { access, alwaysKeyed, alsoReaders = false }: Needs,
  corsOrigins: readonly string[] = [],
): Actor {
  if (access === 'public') return OPEN
  const { authorization, host, origin } = credentials
  if (authorization === undefined) {
    if (!keys.open || alwaysKeyed)
      throw new EngineError('unauthorized', 'an API key is required: Authorization: Bearer <key>')
    refuseForeignHost(host)
    if (origin !== undefined) refuseForeignPage(origin, corsOrigins)
    refuseCrossSite(credentials, corsOrigins)
    return OPEN
  }
  const secret = bearerToken(authorization)
  const key = secret === undefined ? undefined : keys.find(secret)
  if (!key) throw keys.refusalOf(secret)
  const needs = alsoReaders ? [...KINDS[access], 'read' as const] : KINDS[access]
  if (!needs.includes(key.kind)) {
    throw new EngineError('forbidden', `a key of kind ${key.kind} has no access to this route`, {
      details: { kind: key.kind, needs },
    })
  }
  return { namespace: key.namespace, label: key.label, keyId: key.id, kind: key.kind }
}

/** The part of a request's headers that `authenticate` reads. */
export function credentialsOf(headers: Credentials): Credentials {
  const { authorization, host, origin } = headers
  return { authorization, host, origin, 'sec-fetch-site': headers['sec-fetch-site'] }
}

/**
 * Any web page may post to localhost: the browser only withholds the answer. It sends the origin of the page, and a page whose
 * origin `ENGINE_CORS_ORIGINS` does not list is refused.
 */
function refuseForeignPage(origin: string, corsOrigins: readonly string[]): void {
  if (isListed(origin, corsOrigins)) return
  if (/^https?:\/\//.test(origin) && LOOPBACK_HOST.test(origin.replace(/^https?:\/\//, ''))) return
  throw new EngineError(
    'forbidden',
    'without API keys the engine refuses web pages of other origins: list them in ENGINE_CORS_ORIGINS',
  )
}

/**
 * A browser sends no `Origin` with a plain GET: an image, a script, a link. But `Sec-Fetch-Site` says that a page of another site
 * caused the request; this is refused for every method, unless `ENGINE_CORS_ORIGINS` lists the page.
 */
function refuseCrossSite({ origin, 'sec-fetch-site': site }: Credentials, corsOrigins: readonly string[]): void {
  if (site === undefined || !String(site).toLowerCase().includes('cross-site')) return
  if (origin !== undefined && isListed(origin, corsOrigins)) return
  throw new EngineError(
    'forbidden',
    'without API keys the engine refuses requests from pages of other sites (Sec-Fetch-Site: cross-site)',
  )
}

function isListed(origin: string, corsOrigins: readonly string[]): boolean {
  return corsOrigins.includes('*') || corsOrigins.includes(origin)
}

/** The token of a `Bearer` header. The scheme is case-insensitive (RFC 9110, section 11.1). */
export function bearerToken(authorization: string): string | undefined {
  if (authorization.slice(0, 7).toLowerCase() !== 'bearer ') return undefined
  const token = authorization.slice(7).trim()
  return token === '' ? undefined : token
}

const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i

/**
 * Without keys the only credential is being on this machine, and its browser runs pages from everywhere. A page whose name
 * resolves to loopback (DNS rebinding) still sends that name as `Host`.
 */
export function refuseForeignHost(host = ''): void {
  if (LOOPBACK_HOST.test(host)) return
  throw new EngineError(
    'forbidden',
    'without API keys the engine answers only as localhost: Host must be a loopback name or address',
  )
}
