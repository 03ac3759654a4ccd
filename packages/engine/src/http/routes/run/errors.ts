// Groups failed runs by their errors (docs/http-api.md#get-errors).

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { invalid } from '../../../domain/model/errors.ts'
import { shownRunId } from '../../../domain/text/ids.ts'
import { timestamp } from '../../../domain/text/timestamp.ts'
import type { ErrorGroup } from '../../../ports/store-statistics.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { scan } from '../../access/scan.ts'
import { sendJson } from '../../response/reply.ts'
import { briefMessage } from './brief-message.ts'

const SINCE_DEFAULT_MS = 86_400_000

export function errorRoutes(app: FastifyInstance, context: HttpContext): void {
  const { store, clock } = context.deps

  mount(app, context, operations.listErrors, async (request, reply, { app, workflow, limit, since, trend: spans }) => {
    const reads = store.in(request.actor.namespace)
    const now = clock.now()
    const from = since ?? now - SINCE_DEFAULT_MS
    const trend = spans === undefined ? undefined : { spans, spanMs: Math.max(1, Math.ceil((now - from) / spans)) }
    const query = { app, workflow, limit, since: from, trend }
    const groups = await scan(context, reply, signal => reads.errorGroups(query, signal), {
      tooWide: () => invalid('since', 'leaves too many failures to group: give a later time'),
    })
    return sendJson(reply, 200, JSON.stringify(groups.map(presentGroup)))
  })
}

function presentGroup({ firstAt, lastAt, firstSeenAt, lastRunId, error, ...group }: ErrorGroup) {
  const { stepName, code } = error
  const message = briefMessage(error)
  const times = { firstAt: timestamp(firstAt), lastAt: timestamp(lastAt), firstSeenAt: timestamp(firstSeenAt) }
  return { ...group, stepName, code, message, ...times, lastRunId: shownRunId(lastRunId) }
}
