// Sends deliveries again on request, one or all that match (docs/webhooks.md#redelivery). Called by the HTTP routes.

import type { Unit } from '../../domain/model/change.ts'
import type { Delivery } from '../../domain/model/delivery.ts'
import { EngineError, StaleError } from '../../domain/model/errors.ts'
import { optionalTimestamp } from '../../domain/text/timestamp.ts'
import { redeliver } from '../../domain/webhook/redeliver.ts'
import type { DeliveryFilter } from '../../ports/store-reads.ts'
import type { Actor } from '../commit/audit.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'

/** Maximum deliveries that one request queues. */
const REDELIVERED_MAX = 1000
/** Deliveries in one commit. */
const AT_ONCE = 50

export interface DeliveriesDeps extends Pick<Core, 'store' | 'announcer' | 'clock' | 'audit'> {
  /** Attempts in a full schedule. */
  attemptsMax: number
}

/** Numbers of deliveries that matched, and of those that were queued again. */
export interface Redelivered {
  matched: number
  queued: number
  /** Under way, or changed since they were read. */
  skipped: number
  /** More deliveries matched than may be queued at once. */
  capped: boolean
}

export class Deliveries {
  readonly #deps: DeliveriesDeps

  constructor(deps: DeliveriesDeps) {
    this.#deps = deps
  }

  /** Resolves when the delivery is queued again. Throws `not_found`, or `delivery_in_flight` while it is being posted. */
  async redeliver(namespace: string, id: string): Promise<void> {
    const { store, announcer, clock, attemptsMax } = this.#deps
    const unit = await decideAndCommit<Unit>({
      store,
      decide: async () => {
        const found = await store.in(namespace).delivery(id)
        if (!found) throw new EngineError('not_found', 'no such webhook delivery')
        return redeliver(found.delivery, { now: clock.now(), attemptsMax })
      },
      // It was claimed, finished or queued again in between: its new status decides.
      onStale: () => true,
    })
    if (unit) announcer.announce(unit.changes)
  }

  /** The newest deliveries that match, at most `REDELIVERED_MAX`. */
  async matching(namespace: string, filter: DeliveryFilter, signal: AbortSignal): Promise<Delivery[]> {
    const query = { ...filter, limit: REDELIVERED_MAX + 1 }
    return this.#deps.store.in(namespace).deliveryHeads(query, signal)
  }

  /** Counts what `redeliverAll` would do with these. */
  preview(found: readonly Delivery[]): Redelivered {
    const taken = found.slice(0, REDELIVERED_MAX)
    const queued = taken.filter(({ status }) => status !== 'delivering').length
    const capped = found.length > taken.length
    return { matched: taken.length, queued, skipped: taken.length - queued, capped }
  }

  /** Queues the deliveries that `matching` found, except those that are under way or have changed since. */
  async redeliverAll(actor: Actor, filter: DeliveryFilter, found: readonly Delivery[]): Promise<Redelivered> {
    const { matched, capped } = this.preview(found)
    const free = found.slice(0, REDELIVERED_MAX).filter(({ status }) => status !== 'delivering')
    let queued = 0
    for (let at = 0; at < free.length; at += AT_ONCE) queued += await this.#queue(free.slice(at, at + AT_ONCE))
    const counts = { matched, queued, skipped: matched - queued, capped }
    const { since, until, ...rest } = filter
    const shown = { ...rest, since: optionalTimestamp(since), until: optionalTimestamp(until) }
    const detail = JSON.stringify({ filter: shown, ...counts })
    await this.#deps.audit.commit(actor, { guards: [], changes: [] }, { action: 'bulk.redeliver', detail })
    return counts
  }

  /** Returns how many were queued. If one of them has changed, each gets its own commit. */
  async #queue(deliveries: readonly Delivery[]): Promise<number> {
    const { store, announcer, clock, attemptsMax } = this.#deps
    const units = deliveries.map(delivery => redeliver(delivery, { now: clock.now(), attemptsMax }))
    const unit = { guards: units.flatMap(({ guards }) => guards), changes: units.flatMap(({ changes }) => changes) }
    try {
      await store.commit(unit)
      announcer.announce(unit.changes)
      return deliveries.length
    } catch (error) {
      if (!(error instanceof StaleError)) throw error
      if (deliveries.length === 1) return 0
    }
    let queued = 0
    for (const delivery of deliveries) queued += await this.#queue([delivery])
    return queued
  }
}
