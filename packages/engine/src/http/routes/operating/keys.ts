// The API keys of a namespace: `GET`, `POST /keys` and `DELETE /keys/{id}` (docs/security.md#keys-and-namespaces).

import type { ApiKey } from '@perdure/protocol'
import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import type { StoredKey } from '../../../domain/model/api-key.ts'
import { optionalTimestamp, timestamp } from '../../../domain/text/timestamp.ts'
import type { FoundKey } from '../../../services/admin/keys.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { bodyOf } from '../../request/body.ts'
import { decodeCursor, encodeCursor, readId } from '../../request/cursor.ts'
import { pathId } from '../../request/query.ts'
import { timestamp as readTimestamp } from '../../request/timestamp.ts'
import { checkName, validator } from '../../request/validate.ts'
import { sendJson } from '../../response/reply.ts'

const checkCreate = validator(operations.createApiKey.body.schema)

export function keyRoutes(app: FastifyInstance, context: HttpContext): void {
  const { namespaceKeys } = context.deps

  mount(app, context, operations.listApiKeys, async (request, reply, { limit, cursor }) => {
    const { namespace } = request.actor
    const scope = { kind: 'keys', namespace, filter: {} } as const
    const after = decodeCursor(cursor, scope, readId)
    const all = [
      ...namespaceKeys.fixed(namespace).map(presentFixed),
      ...(await namespaceKeys.stored(namespace)).map(presentStored),
    ]
    const from = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1
    const rows = all.slice(from, from + limit)
    const last = rows.at(-1)
    if (last && from + limit < all.length) reply.header('x-next-cursor', encodeCursor(scope, [last.id]))
    return sendJson(reply, 200, JSON.stringify(rows))
  })

  mount(app, context, operations.createApiKey, async (request, reply) => {
    const { kind, label, expiresAt: end } = checkCreate(bodyOf(request)?.value)
    checkName('label', label)
    const expiresAt = end === undefined ? undefined : readTimestamp('expiresAt', end)
    const { stored, key } = await namespaceKeys.create(request.actor, { kind, label, expiresAt })
    return sendJson(reply, 201, JSON.stringify({ ...presentStored(stored), key }))
  })

  mount(app, context, operations.revokeApiKey, async (request, reply) => {
    await namespaceKeys.revoke(request.actor, pathId(request, 'API key'))
    return reply.code(204).send()
  })
}

function presentFixed({ id, label, kind }: FoundKey): ApiKey {
  return { id, label, kind, source: 'settings' }
}

function presentStored({ id, label, kind, createdAt, lastUsedAt, revokedAt, expiresAt }: StoredKey): ApiKey {
  return {
    id,
    label,
    kind,
    source: 'store',
    createdAt: timestamp(createdAt),
    lastUsedAt: optionalTimestamp(lastUsedAt),
    revokedAt: optionalTimestamp(revokedAt),
    expiresAt: optionalTimestamp(expiresAt),
  }
}
