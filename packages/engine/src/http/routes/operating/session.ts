// The caller and its sessions: `GET /whoami`, `POST` and `DELETE /session`, `POST /session/codes` (docs/security.md#sessions).

import { DURATION_FORMS, FEATURES, type OpenSession, parseDurationMs, type Whoami } from '@perdure/protocol'
import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ENGINE_VERSION } from '../../../base/version.ts'
import { invalid } from '../../../domain/model/errors.ts'
import { optionalTimestamp, timestamp } from '../../../domain/text/timestamp.ts'
import { SESSION_MS_MAX, SESSION_MS_MIN, type Session } from '../../../services/admin/sessions.ts'
import { bearerToken } from '../../access/auth.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { bodyOf } from '../../request/body.ts'
import { validator } from '../../request/validate.ts'
import { sendJson } from '../../response/reply.ts'

const checkOpen = validator(operations.openSession.body.schema)
const checkCode = validator(operations.makeSessionCode.body.schema)

export function sessionRoutes(app: FastifyInstance, context: HttpContext): void {
  const { deps, guesses } = context
  const { sessions, keys, clock } = deps

  mount(app, context, operations.whoami, async (request, reply) => {
    const { namespace, label, kind = 'secret' } = request.actor
    const { streams, keyStreams } = deps.openLimits
    const whoami: Whoami = {
      namespace,
      kind,
      label,
      expiresAt: optionalTimestamp(keys.expiresAt(keyOf(request))),
      open: keys.open,
      suspended: deps.isSuspended(namespace),
      version: ENGINE_VERSION,
      now: timestamp(clock.now()),
      store: deps.storeKind,
      features: [...FEATURES],
      limits: { bulkReplay: deps.bulkReplayLimit, streams, keyStreams },
    }
    return sendJson(reply, 200, JSON.stringify(whoami))
  })

  mount(app, context, operations.openSession, async (request, reply) => {
    const given = bodyOf(request)
    const body = given ? checkOpen(given.value) : {}
    const lastsMs = readTtl(body.ttl)
    const { code } = body
    const { key = code === undefined ? bearerToken(request.headers.authorization ?? '') : undefined } = body
    if ((key === undefined) === (code === undefined)) throw invalid('key', 'or code is required, not both')
    if (key === undefined) {
      if (body.kind !== undefined) throw invalid('kind', 'is set by the code: it cannot be given with one')
      return sendSession(reply, await guarded(request, code as string, () => sessions.redeem(code as string, lastsMs)))
    }
    return sendSession(reply, await guarded(request, key, () => sessions.open(key, body.kind ?? 'read', lastsMs)))
  })

  mount(app, context, operations.endSession, async (request, reply) => {
    await sessions.end(keyOf(request))
    return reply.code(204).send()
  })

  mount(app, context, operations.makeSessionCode, async (request, reply) => {
    const body = bodyOf(request)
    const { kind = 'read' } = body ? checkCode(body.value) : {}
    const { code, expiresAt } = await sessions.makeCode(keyOf(request), kind)
    return sendJson(reply, 201, JSON.stringify({ code, expiresAt: timestamp(expiresAt) }))
  })

  /** Counts wrong keys and codes in bodies like those in the `Authorization` header. */
  async function guarded<T>(request: FastifyRequest, secret: string, open: () => Promise<T>): Promise<T> {
    const { remoteAddress } = request.raw.socket
    guesses.refuseSpent(`Bearer ${secret}`, remoteAddress)
    return open().catch(error => {
      throw guesses.counted(error, `Bearer ${secret}`, remoteAddress)
    })
  }
}

/** The key of the request; empty without one. */
function keyOf(request: FastifyRequest): string {
  return bearerToken(request.headers.authorization ?? '') ?? ''
}

function readTtl(ttl: OpenSession['ttl']): number {
  if (ttl === undefined) return SESSION_MS_MAX
  const ms = parseDurationMs(ttl)
  if (ms === undefined) throw invalid('ttl', `must be ${DURATION_FORMS}`)
  if (ms < SESSION_MS_MIN || ms > SESSION_MS_MAX) throw invalid('ttl', 'must be from 1 minute to 12 hours')
  return ms
}

function sendSession(reply: FastifyReply, session: Session): FastifyReply {
  return sendJson(reply, 201, JSON.stringify({ ...session, expiresAt: timestamp(session.expiresAt) }))
}
