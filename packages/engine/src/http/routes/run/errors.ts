// Groups failed runs by their errors (docs/http-api/runs.md#get-errors), and sets the states of the groups.

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { invalid } from '../../../domain/model/errors.ts'
import type { Runner } from '../../../domain/model/workflow.ts'
import { shownRunId } from '../../../domain/text/ids.ts'
import { timestamp } from '../../../domain/text/timestamp.ts'
import { followOnKind } from '../../../domain/view/run-summary.ts'
import type { ErrorGroup } from '../../../ports/store-statistics.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { scan } from '../../access/scan.ts'
import { bodyOf } from '../../request/body.ts'
import { validator } from '../../request/validate.ts'
import { sendJson } from '../../response/reply.ts'
import { briefMessage } from './present-step.ts'

const SINCE_DEFAULT_MS = 86_400_000
const checkState = validator(operations.setErrorState.body.schema)

export function errorRoutes(app: FastifyInstance, context: HttpContext): void {
  const { store, clock, registry, errorStates } = context.deps

  mount(app, context, operations.listErrors, async (request, reply, { trend: spans, ...asked }) => {
    const { namespace } = request.actor
    const reads = store.in(namespace)
    const end = asked.until ?? clock.now()
    const since = asked.since ?? end - SINCE_DEFAULT_MS
    const trend = spans === undefined ? undefined : { spans, spanMs: Math.max(1, Math.ceil((end - since) / spans)) }
    const query = { ...asked, since, trend }
    const groups = await scan(context, reply, signal => reads.errorGroups(query, signal), {
      tooWide: () => invalid('since', 'leaves too many failures to group: give a later time'),
    })
    const registered = asked.runners === undefined ? [] : registry.runners(namespace, asked.app)
    return sendJson(reply, 200, JSON.stringify(groups.map(group => presentGroup(group, registered))))
  })

  mount(app, context, operations.setErrorState, async (request, reply) => {
    const { fingerprint } = request.params as { fingerprint: string }
    const change = checkState(bodyOf(request)?.value)
    const saved = await errorStates.set(request.actor, fingerprint, change)
    const set = saved && { stateSetAt: timestamp(saved.savedAt), stateSetBy: saved.actor }
    return sendJson(reply, 200, JSON.stringify({ fingerprint, ...change, ...set }))
  })
}

/** `registered` has the SDKs of runners. */
function presentGroup(
  { firstAt, lastAt, firstSeenAt, stateSetAt, lastRunId, error, kind, runners, ...group }: ErrorGroup,
  registered: readonly Runner[],
) {
  const { stepName, code } = error
  const message = briefMessage(error)
  const times = { firstAt: timestamp(firstAt), lastAt: timestamp(lastAt), firstSeenAt: timestamp(firstSeenAt) }
  const counted = runners?.map(({ runnerId, count }) => {
    const runner = registered.find(each => each.app === group.app && each.runnerId === runnerId)
    return { runnerId, count, sdkName: runner?.sdkName, version: runner?.version }
  })
  return {
    ...group,
    kind: followOnKind(kind),
    stateSetAt: stateSetAt && timestamp(stateSetAt),
    stepName,
    code,
    message,
    ...times,
    lastRunId: shownRunId(lastRunId),
    runners: counted,
  }
}
