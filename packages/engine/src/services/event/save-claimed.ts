// Saves a row that the timers lane has claimed, which also ends the lease. Called when a claimed row is not due, or fires
// nothing.

import type { Unit } from '../../domain/model/change.ts'
import type { FlowRow } from '../../domain/model/flow-row.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'

/** Saves the row; does nothing if the row has changed since it was claimed. */
export async function saveClaimed(
  { store, announcer }: Pick<Core, 'store' | 'announcer'>,
  { id, version }: FlowRow,
  saved: FlowRow,
): Promise<void> {
  const unit: Unit = { guards: [{ type: 'flow', id, version }], changes: [{ type: 'flow.saved', row: saved }] }
  const committed = await decideAndCommit<Unit>({
    store,
    decide: assumptions => (assumptions.flow.has(id) ? undefined : unit),
    onStale: () => false,
  })
  if (committed) announcer.announce(committed.changes)
}
