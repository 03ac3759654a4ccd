// Determines who sends a request: the holder of an API key, or of a run token (docs/security.md#run-tokens). Called by
// authorize.ts for requests, and by connect/hub.ts for upgrades.

import type { Operation } from '@perdure/protocol/operations'
import { EngineError } from '../../domain/model/errors.ts'
import type { RunAccess } from '../../services/admin/run-access.ts'
import type { Actor } from '../../services/commit/audit.ts'
import { RunTokens } from '../../services/support/run-tokens.ts'
import { authenticate, bearerToken, type Credentials, type Needs } from './auth.ts'
import type { HttpDeps } from './deps.ts'

export type AdmitDeps = Pick<HttpDeps, 'keys' | 'corsOrigins'> & { runAccess: Pick<RunAccess, 'read'> }

/** The credentials of a request: its headers, and the `token` of its query unless that is a parameter of the operation. */
export interface GivenCredentials extends Credentials {
  token?: string | undefined
}

/** The keys that a request needs, and whether a run token is enough. */
export interface AdmitNeeds extends Needs, Pick<Operation, 'runToken'> {}

/**
 * The actor behind a request.
 * @throws EngineError `unauthorized`, or `forbidden` if the key or token does not open the operation.
 */
export function admit(deps: AdmitDeps, credentials: GivenCredentials, needs: AdmitNeeds): Actor {
  const token = needs.access === 'public' ? undefined : runTokenOf(deps, credentials)
  if (token === undefined) return authenticate(deps.keys, credentials, needs, deps.corsOrigins)
  const grant = deps.runAccess.read(token)
  if (!needs.runToken) {
    throw new EngineError(
      'forbidden',
      'a run token gives access to its run, the result and the streams, and to no other route',
    )
  }
  const { namespace, keyId } = grant
  return { namespace, runToken: grant, ...(keyId === '' ? {} : { keyId }) }
}

/** Whether the same credentials still open the actor's namespace: keys change while a stream or socket is open. */
export function isStillAdmitted(actor: Actor, ...given: Parameters<typeof admit>): boolean {
  try {
    return admit(...given).namespace === actor.namespace
  } catch (error) {
    if (error instanceof EngineError) return false
    throw error
  }
}

/** Whether a key was refused that this engine does not know: another engine may just have made it. */
export function isUnknownKey(refusal: unknown, { authorization, token }: GivenCredentials): boolean {
  const isGiven = authorization !== undefined || token !== undefined
  return refusal instanceof EngineError && refusal.code === 'unauthorized' && isGiven
}

/** Whether the credentials are a run token: nobody guesses such a text. */
export function carriesRunToken({ authorization, token }: GivenCredentials): boolean {
  return authorization === undefined ? token !== undefined : RunTokens.isOne(bearerToken(authorization) ?? '')
}

/** Returns the run token of the request. The header takes precedence over the query, where only a run token counts. */
function runTokenOf({ keys }: AdmitDeps, credentials: GivenCredentials): string | undefined {
  if (!carriesRunToken(credentials)) return undefined
  const { authorization, token } = credentials
  if (authorization === undefined) return token
  const bearer = bearerToken(authorization) as string
  // A key of the configuration may be any text.
  return keys.find(bearer) ? undefined : bearer
}
