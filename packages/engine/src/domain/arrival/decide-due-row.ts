// What the timers lane does with a flow-control row whose time has come: one decision for each policy.

import type { FlowPolicy } from '../model/flow-row.ts'
import { decideDueBuffer } from './buffer.ts'
import type { DueRow, DueRowDecision } from './due-row.ts'
import { decideDueSchedule } from './schedules.ts'

const DECIDE_BY_POLICY: Record<FlowPolicy, (input: DueRow) => DueRowDecision | undefined> = {
  cron: decideDueSchedule,
  debounce: decideDueBuffer,
  batch: decideDueBuffer,
  idempotency: deleteExpired,
}

/** The guarded changes that the row's time brings; undefined when it has not come (any more). */
export function decideDueRow(input: DueRow): DueRowDecision | undefined {
  return DECIDE_BY_POLICY[input.row.policy](input)
}

/** A claim that means nothing any more makes room. */
function deleteExpired({ row, now }: DueRow): DueRowDecision | undefined {
  if (row.expiresAt === undefined || row.expiresAt > now) return undefined
  const { id, version } = row
  return { guards: [{ type: 'flow', id, version }], changes: [{ type: 'flow.deleted', id }] }
}
