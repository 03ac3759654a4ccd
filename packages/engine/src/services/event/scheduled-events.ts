// Events that arrive later: computes when, and deletes them (docs/events.md#send-an-event-later). Called by the HTTP routes.

import type { Change, Unit } from '../../domain/model/change.ts'
import { EngineError, invalid } from '../../domain/model/errors.ts'
import type { FlowRow } from '../../domain/model/flow-row.ts'
import {
  filterTerms,
  SCHEDULED_MS_MAX,
  type ScheduledFilter,
  scheduledRowId,
} from '../../domain/run/later/scheduled-event.ts'
import type { Actor } from '../commit/audit.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'

export type ScheduledEventsDeps = Pick<Core, 'store' | 'announcer' | 'clock' | 'audit'>

/** When an event arrives, as its sender specifies it. */
export type Later = { at: number } | { delayMs: number }

export class ScheduledEvents {
  readonly #deps: ScheduledEventsDeps

  constructor(deps: ScheduledEventsDeps) {
    this.#deps = deps
  }

  /** Returns when an event that is sent now arrives. @throws EngineError `invalid_request` for a time that is too far away. */
  arrivalTime(later: Later): number {
    const now = this.#deps.clock.now()
    const at = 'at' in later ? later.at : now + later.delayMs
    if (at > now + SCHEDULED_MS_MAX)
      throw invalid('at' in later ? 'at' : 'delay', 'must not be more than 366 days away')
    return at
  }

  /**
   * Deletes an event that has not arrived. Its dedupe id stays used.
   * @throws EngineError `not_found` if there is no such event, or no longer.
   */
  async delete(actor: Actor, eventId: string): Promise<void> {
    const { store, announcer, audit } = this.#deps
    const { namespace } = actor
    const id = scheduledRowId(namespace, eventId)
    let row: FlowRow | undefined
    const unit = await decideAndCommit<Unit>({
      store,
      namespace,
      decide: async () => {
        row = await store.flowRow(id)
        if (!row) throw new EngineError('not_found', 'no such scheduled event')
        return { guards: [{ type: 'flow', id, version: row.version }], changes: [deletionOf(row)] }
      },
      commit: unit =>
        audit.commit(actor, unit, {
          action: 'scheduled_event.delete',
          detail: JSON.stringify({ id: eventId }),
        }),
      onStale: () => true,
    })
    if (unit) announcer.announce(unit.changes)
  }

  /**
   * Deletes all events that match the filter and have not arrived, at most `DELETED_MAX`. Their dedupe ids stay used. Each
   * commit has an entry in the audit log. @throws EngineError `invalid_request` for an empty filter.
   */
  async deleteMatching(actor: Actor, filter: ScheduledFilter): Promise<{ deleted: number; more: boolean }> {
    const { store, announcer, audit } = this.#deps
    const { namespace } = actor
    const terms = filterTerms(filter)
    if (terms.length === 0)
      throw invalid(
        'name',
        'or attribute or key is required: a request without a filter would delete every scheduled event',
      )
    const reads = store.in(namespace)
    let deleted = 0
    for (;;) {
      const limit = Math.min(DELETED_AT_ONCE, DELETED_MAX - deleted)
      let rows: readonly FlowRow[] = []
      const unit = await decideAndCommit<Unit>({
        store,
        namespace,
        decide: async () => {
          // One row more than can be deleted shows whether some are left.
          rows = await reads.scheduledEvents({ terms, limit: Math.max(1, limit) })
          if (rows.length === 0 || limit === 0) return undefined
          return {
            guards: rows.map(({ id, version }) => ({ type: 'flow' as const, id, version })),
            changes: rows.map(deletionOf),
          }
        },
        commit: unit =>
          audit.commit(actor, unit, {
            action: 'scheduled_event.delete',
            detail: JSON.stringify({ ...filter, deleted: rows.length }),
          }),
        onStale: () => true,
      })
      if (!unit) return { deleted, more: rows.length > 0 }
      announcer.announce(unit.changes)
      deleted += rows.length
    }
  }
}

/** Events in one commit, and in one request. */
const DELETED_AT_ONCE = 200
const DELETED_MAX = 10_000

function deletionOf({ id }: FlowRow): Change {
  return { type: 'flow.deleted', id, isScheduled: true }
}
