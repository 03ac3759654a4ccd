// Lists, saves and deletes a namespace's shared views of the list of runs (docs/console.md#views).

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { invalid } from '../../../domain/model/errors.ts'
import { timestamp } from '../../../domain/text/timestamp.ts'
import type { SharedView } from '../../../services/admin/views.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { bodyOf } from '../../request/body.ts'
import { validator } from '../../request/validate.ts'
import { sendJson } from '../../response/reply.ts'

const checkView = validator(operations.putView.body.schema)
const ID_FORM = /^[A-Za-z0-9_-]{1,64}$/

export function viewRoutes(app: FastifyInstance, context: HttpContext): void {
  const { views } = context.deps

  mount(app, context, operations.listViews, async (request, reply) => {
    const shown = await views.list(request.actor.namespace)
    return sendJson(reply, 200, JSON.stringify(shown.map(presentView)))
  })

  mount(app, context, operations.putView, async (request, reply) => {
    const { id } = request.params as { id: string }
    if (!ID_FORM.test(id)) throw invalid('id', 'must match [A-Za-z0-9_-]{1,64}')
    const view = await views.put(request.actor, id, checkView(bodyOf(request)?.value))
    return sendJson(reply, 200, JSON.stringify(presentView(view)))
  })

  mount(app, context, operations.deleteView, async (request, reply) => {
    const { id } = request.params as { id: string }
    if (!ID_FORM.test(id)) throw invalid('id', 'must match [A-Za-z0-9_-]{1,64}')
    await views.delete(request.actor, id)
    return reply.code(204).send()
  })
}

const presentView = ({ savedAt, actor, ...view }: SharedView) => ({
  ...view,
  savedAt: timestamp(savedAt),
  savedBy: actor,
})
