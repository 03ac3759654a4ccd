// `GET /limits`: the limits of flow control that runs hold or wait for (docs/flow-control.md#why-does-it-wait).

import type { LimitStatus } from '@perdure/protocol'
import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { shownRunId } from '../../../domain/text/ids.ts'
import { optionalTimestamp, timestamp } from '../../../domain/text/timestamp.ts'
import {
  type LimitedRun,
  type LimitNow,
  limitsOf,
  RELEASE_WINDOW_MS,
  type SingletonRun,
} from '../../../domain/why/limits.ts'
import { TURNS_COUNTED_MAX, type TurnPoolNow } from '../../../domain/why/turn-pool.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { scan } from '../../access/scan.ts'
import { sendJson } from '../../response/reply.ts'

export function limitRoutes(app: FastifyInstance, context: HttpContext): void {
  mount(app, context, operations.listLimits, async (request, reply, query) => {
    const reads = context.deps.store.in(request.actor.namespace)
    const { kind, ...asked } = query
    const { key } = asked
    if (kind === 'singleton') {
      const runs = await scan(context, reply, signal => reads.singletons(asked, signal))
      return sendJson(reply, 200, JSON.stringify(runs.map(presentSingleton)))
    }
    const now = context.deps.clock.now()
    if (kind === 'step') {
      const pools = await reads.turnPools({ now, app: query.app, name: query.name, key, limit: query.limit })
      return sendJson(reply, 200, JSON.stringify(pools.map(presentTurns)))
    }
    const from = { ...asked, endedSince: now - RELEASE_WINDOW_MS }
    const rows = await scan(context, reply, signal => reads.limits(from, signal))
    const workflows = await context.deps.registry.workflows(request.actor.namespace, undefined)
    const defined = new Map(workflows.map(workflow => [appKeyOf(workflow.app, workflow.name), workflow]))
    const workflowOf = ({ app, workflow }: LimitedRun) => defined.get(appKeyOf(app, workflow))
    const limits = limitsOf(rows, { now, workflowOf }).filter(
      limit => (kind === undefined || limit.kind === kind) && (key === undefined || limit.key === key),
    )
    return sendJson(reply, 200, JSON.stringify(limits.slice(0, query.limit).map(presentLimit)))
  })
}

const appKeyOf = (app: string, workflow: string) => `${app}\n${workflow}`

function presentLimit(limit: LimitNow): LimitStatus {
  if (limit.kind === 'throttle') {
    const { isPart, inLine, oldestAt, nextStartAt, ...rest } = limit
    const times = { oldestAt: optionalTimestamp(oldestAt), nextStartAt: optionalTimestamp(nextStartAt) }
    return { ...rest, inLine: counted(inLine, isPart), ...times }
  }
  const { isPart, waiting, oldestAt, holders, ...rest } = limit
  const shown = { waiting: counted(waiting, isPart), oldestAt: optionalTimestamp(oldestAt) }
  return { ...rest, ...shown, holders: holders.map(presentHolder) }
}

function presentTurns({ app, name, key, registered, taken, waiting, ...at }: TurnPoolNow): LimitStatus {
  return {
    ...{ kind: 'step', scope: 'app', app, name },
    ...(key === '' ? {} : { key }),
    ...registered,
    taken,
    waiting: counted(waiting, waiting > TURNS_COUNTED_MAX),
    oldestAt: optionalTimestamp(at.oldestAt),
    nextTurnAt: optionalTimestamp(at.nextAt),
  }
}

/** A number, or a text with its lower bound. */
function counted(count: number, isPart: boolean): number | string {
  return isPart && count > 0 ? `${Math.min(count, 10_000)}+` : count
}

function presentSingleton({ id, app, workflow, singletonKey: key, ...times }: SingletonRun): LimitStatus {
  return {
    ...{ kind: 'singleton', scope: 'workflow', app, workflow },
    ...(key === '' ? {} : { key }),
    runId: shownRunId(id),
    createdAt: timestamp(times.createdAt),
    startedAt: optionalTimestamp(times.startedAt),
  }
}

function presentHolder({ id, workflow, app, startedAt }: LimitedRun) {
  return { runId: shownRunId(id), workflow, app, startedAt: optionalTimestamp(startedAt) }
}
