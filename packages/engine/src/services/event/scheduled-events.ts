// Events that arrive later: says when, and deletes them (docs/events.md#send-an-event-later). Called by the HTTP routes.

import type { Unit } from '../../domain/model/change.ts'
import { EngineError, invalid } from '../../domain/model/errors.ts'
import type { FlowRow } from '../../domain/model/flow-row.ts'
import { SCHEDULED_MS_MAX, scheduledRowId } from '../../domain/run/later/scheduled-event.ts'
import { type Actor, Audit } from '../commit/audit.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'

export type ScheduledEventsDeps = Pick<Core, 'store' | 'announcer' | 'clock' | 'ids' | 'log'>

/** When an event arrives, as its sender asks for it. */
export type Later = { at: number } | { delayMs: number }

export class ScheduledEvents {
  readonly #deps: ScheduledEventsDeps
  readonly #audit: Audit

  constructor(deps: ScheduledEventsDeps) {
    this.#deps = deps
    this.#audit = new Audit(deps)
  }

  /** When an event that is sent now arrives. @throws EngineError `invalid_request` for a time that is too far away. */
  arrivalTime(later: Later): number {
    const now = this.#deps.clock.now()
    const at = 'at' in later ? later.at : now + later.delayMs
    if (at > now + SCHEDULED_MS_MAX)
      throw invalid('at' in later ? 'at' : 'delay', 'must not be more than 366 days away')
    return at
  }

  /**
   * Deletes an event that has not arrived. Its dedupe id stays used.
   * @throws EngineError `not_found` if there is none with this id, or no longer.
   */
  async delete(actor: Actor, eventId: string): Promise<void> {
    const { store, announcer } = this.#deps
    const { namespace } = actor
    const id = scheduledRowId(namespace, eventId)
    let row: FlowRow | undefined
    const unit = await decideAndCommit<Unit>({
      store,
      namespace,
      decide: async () => {
        row = await store.flowRow(id)
        if (!row) throw new EngineError('not_found', 'no such scheduled event')
        return { guards: [{ type: 'flow', id, version: row.version }], changes: [{ type: 'flow.deleted', id }] }
      },
      unit: unit => unit,
      commit: unit =>
        this.#audit.commit(actor, unit, {
          action: 'scheduled_event.delete',
          detail: JSON.stringify({ id: eventId }),
        }),
      onStale: () => true,
    })
    if (unit) announcer.announce(unit.changes)
  }
}
