// `POST /runs/{id}/tokens` makes a token that reads one run (docs/security.md#run-tokens). `tokenOf` is also used by the requests that
// start a run.

import { DURATION_FORMS, parseDurationMs } from '@perdure/protocol'
import { operations, RUN_TOKEN_MS } from '@perdure/protocol/operations'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { invalid } from '../../../../domain/model/errors.ts'
import type { Run } from '../../../../domain/model/run.ts'
import { timestamp } from '../../../../domain/text/timestamp.ts'
import type { Actor } from '../../../../services/commit/audit.ts'
import type { HttpContext } from '../../../access/context.ts'
import type { HttpDeps } from '../../../access/deps.ts'
import { mount } from '../../../access/mount.ts'
import { bodyOf } from '../../../request/body.ts'
import { pathId } from '../../../request/query.ts'
import { validator } from '../../../request/validate.ts'
import { sendJson } from '../../../response/reply.ts'

const checkToken = validator(operations.createRunToken.body.schema)

export function runTokenRoutes(app: FastifyInstance, context: HttpContext): void {
  const { runAccess, control } = context.deps

  mount(
    app,
    context,
    operations.createRunToken,
    async (request, reply) => {
      const { token, expiresAt } = await runAccess.grant(request.actor, pathId(request, 'run'), readTtl(request))
      return sendJson(reply, 201, JSON.stringify({ token, expiresAt: timestamp(expiresAt) }))
    },
    { refuseEarly: ({ actor }) => control.assertActive(actor.namespace) },
  )
}

/** The members of an answer that has a token for the started run. */
export function tokenOf(
  { runAccess }: Pick<HttpDeps, 'runAccess'>,
  actor: Actor,
  run: Pick<Run, 'id' | 'chainId'>,
  lastsMs: number,
): { token: string; tokenExpiresAt: string } {
  const { token, expiresAt } = runAccess.make(actor, run, lastsMs)
  return { token, tokenExpiresAt: timestamp(expiresAt) }
}

function readTtl(request: FastifyRequest): number {
  const body = bodyOf(request)
  const { ttl } = body ? checkToken(body.value) : {}
  if (ttl === undefined) return RUN_TOKEN_MS.initial
  const ms = parseDurationMs(ttl)
  if (ms === undefined) throw invalid('ttl', `must be ${DURATION_FORMS}`)
  if (ms < RUN_TOKEN_MS.min || ms > RUN_TOKEN_MS.max) throw invalid('ttl', 'must be from 1 second to 24 hours')
  return Math.floor(ms)
}
