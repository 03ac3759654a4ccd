// What the timers lane does with a flow-control row whose time has come: one decision for each policy.

import type { FlowPolicy } from '../model/flow-row.ts'
import { fireBuffer } from './buffer.ts'
import type { FireInput, Firing } from './due-row.ts'
import { fireSchedule } from './schedules.ts'

const FIRES: Record<FlowPolicy, (input: FireInput) => Firing | undefined> = {
  cron: fireSchedule,
  debounce: fireBuffer,
  batch: fireBuffer,
  idempotency: dropExpired,
}

/** The guarded changes that the row's time brings; undefined when it has not come (any more). */
export function fire(input: FireInput): Firing | undefined {
  return FIRES[input.row.policy](input)
}

/** A claim that means nothing any more makes room. */
function dropExpired({ row, now }: FireInput): Firing | undefined {
  if (row.expiresAt === undefined || row.expiresAt > now) return undefined
  const { id, version } = row
  return { guards: [{ type: 'flow', id, version }], changes: [{ type: 'flow.deleted', id }] }
}
