// Decides a due flow-control row by its policy. Called by services/event/timers.

import type { FlowPolicy } from '../model/flow-row.ts'
import { decideDueBuffer } from './buffer.ts'
import type { DueRow, DueRowDecision } from './due-row.ts'
import { decideDueSchedule } from './schedules.ts'

const DECIDE_BY_POLICY: Record<FlowPolicy, (input: DueRow) => DueRowDecision | undefined> = {
  cron: decideDueSchedule,
  debounce: decideDueBuffer,
  batch: decideDueBuffer,
  idempotency: deleteExpired,
  // Never called: the timers make these events arrive.
  event: () => undefined,
  ended: () => undefined,
  schedule: () => undefined,
  // Never called: the timers process these slices.
  bulk: () => undefined,
  bulkInput: () => undefined,
  // Never due.
  callbacks: () => undefined,
  limit: grantTurns,
}

/** The guarded changes of a due row; undefined when the row is not due, or no longer due. */
export function decideDueRow(input: DueRow): DueRowDecision | undefined {
  return DECIDE_BY_POLICY[input.row.policy](input)
}

/**
 * Grants turns, because one is free or the limit has changed. The store decides who gets turns, whatever the version of the
 * row.
 */
function grantTurns({ row, now }: DueRow): DueRowDecision {
  return { guards: [], changes: [{ type: 'turns.granted', poolId: row.id, at: now }] }
}

/** Deletes an idempotency claim that has expired. */
function deleteExpired({ row, now }: DueRow): DueRowDecision | undefined {
  if (row.expiresAt === undefined || row.expiresAt > now) return undefined
  const { id, version } = row
  return { guards: [{ type: 'flow', id, version }], changes: [{ type: 'flow.deleted', id }] }
}
