// Starts workflows with events of the log (docs/events.md#redrive).

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { invalid } from '../../../domain/model/errors.ts'
import { readTraceparent } from '../../../domain/text/traceparent.ts'
import { runSummary } from '../../../domain/view/run-summary.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { scan } from '../../access/scan.ts'
import { bodyOf } from '../../request/body.ts'
import { pathId } from '../../request/query.ts'
import { timestamp } from '../../request/timestamp.ts'
import { checkName, validator } from '../../request/validate.ts'
import { sendJson } from '../../response/reply.ts'

const checkOne = validator(operations.redriveEvent.body.schema)
const checkMany = validator(operations.redriveEvents.body.schema)

export function redriveRoutes(app: FastifyInstance, context: HttpContext): void {
  const { redrive } = context.deps

  mount(app, context, operations.redriveEvent, async (request, reply) => {
    const target = checkOne(bodyOf(request)?.value)
    checkName('workflow', target.workflow)
    checkName('app', target.app)
    const trace = readTraceparent(request.headers.traceparent)
    const actor = { ...request.actor, ...(trace && { trace }) }
    const run = await redrive.one(actor, pathId(request, 'event'), target)
    return sendJson(reply, 201, JSON.stringify(runSummary(run)))
  })

  mount(app, context, operations.redriveEvents, async (request, reply) => {
    const { dryRun = false, since, until, ...wanted } = checkMany(bodyOf(request)?.value)
    for (const [field, value] of Object.entries(wanted)) checkName(field, value)
    const span = {
      since: timestamp('since', since),
      ...(until === undefined ? {} : { until: timestamp('until', until) }),
    }
    const counted = scan(
      context,
      reply,
      signal => redrive.many(request.actor, { ...wanted, ...span }, { isDryRun: dryRun, signal }),
      {
        timeoutMs: context.limits.bulkScanMs,
        tooWide: () => invalid('since', 'leaves too many events to read: give a later since, or until'),
      },
    )
    return sendJson(reply, 200, JSON.stringify(await counted))
  })
}
