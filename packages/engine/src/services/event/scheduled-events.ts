// Events that arrive later: takes them, lists and deletes them (docs/events.md#send-an-event-later). Called by the HTTP routes.

import { SCHEDULED_MS_MAX, scheduledRow, scheduledRowId } from '../../domain/arrival/scheduled-event.ts'
import type { Unit } from '../../domain/model/change.ts'
import { EngineError, invalid } from '../../domain/model/errors.ts'
import { DEDUPE_WINDOW_MS } from '../../domain/model/event.ts'
import type { FlowRow } from '../../domain/model/flow-row.ts'
import { type Actor, Audit } from '../commit/audit.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'
import { dedupeKey, type IncomingEvent, type Ingest } from './ingest.ts'

export interface ScheduledEventsDeps extends Pick<Core, 'store' | 'announcer' | 'clock' | 'ids' | 'log'> {
  ingest: Ingest
}

/** When an event arrives, as its sender asks for it. */
export type Later = { at: number } | { delayMs: number }

export class ScheduledEvents {
  readonly #deps: ScheduledEventsDeps
  readonly #audit: Audit

  constructor(deps: ScheduledEventsDeps) {
    this.#deps = deps
    this.#audit = new Audit(deps)
  }

  /**
   * Resolves when the event is durable; one whose time has passed arrives at once. The dedupe id is claimed now, until a day after
   * the event has arrived: undefined is answered for a repeat.
   * @throws EngineError `invalid_request` for a time that is too far away.
   */
  async schedule(
    namespace: string,
    incoming: IncomingEvent,
    later: Later,
  ): Promise<{ eventId: string; at: number } | undefined> {
    const { store, announcer, clock, ids, ingest } = this.#deps
    const now = clock.now()
    const at = this.arrivalTime(later, now)
    if (at <= now) {
      const { eventId } = await ingest.send(namespace, incoming)
      return eventId === undefined ? undefined : { eventId, at }
    }
    const eventId = ids.next('evt', now)
    const row = scheduledRow(namespace, { ...incoming, id: eventId, createdAt: now }, at)
    const unit: Unit = { guards: [], changes: [{ type: 'flow.saved', row }] }
    const key = dedupeKey(namespace, incoming, now)
    if (key) {
      const { now: _, ...claim } = key
      unit.guards.push({ type: 'dedupe', ...key })
      unit.changes.push({ type: 'dedupe.claimed', ...claim, expiresAt: at + DEDUPE_WINDOW_MS })
    }
    const saved = await decideAndCommit<Unit>({
      store,
      namespace,
      decide: () => unit,
      unit: unit => unit,
      onStale: () => false,
    })
    if (!saved) return undefined
    announcer.announce(saved.changes)
    return { eventId, at }
  }

  /** When an event that is sent now arrives. @throws EngineError `invalid_request` for a time that is too far away. */
  arrivalTime(later: Later, now = this.#deps.clock.now()): number {
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
