// Sends a delivery again on request (docs/webhooks.md#redelivery). Called by the HTTP routes.

import type { Unit } from '../../domain/model/change.ts'
import { EngineError } from '../../domain/model/errors.ts'
import { redeliver } from '../../domain/webhook/redeliver.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'

export interface DeliveriesDeps extends Pick<Core, 'store' | 'announcer' | 'clock'> {
  /** Attempts that a full schedule makes. */
  attemptsMax: number
}

export class Deliveries {
  readonly #deps: DeliveriesDeps

  constructor(deps: DeliveriesDeps) {
    this.#deps = deps
  }

  /** Resolves when the delivery is queued anew. Throws `not_found`, or `delivery_in_flight` while it is posted. */
  async redeliver(namespace: string, id: string): Promise<void> {
    const { store, announcer, clock, attemptsMax } = this.#deps
    const unit = await decideAndCommit<Unit>({
      store,
      decide: async () => {
        const found = await store.in(namespace).delivery(id)
        if (!found) throw new EngineError('not_found', 'no such webhook delivery')
        return redeliver(found.delivery, { now: clock.now(), attemptsMax })
      },
      unit: unit => unit,
      // Claimed, finished or queued again in between: its new status decides.
      onStale: () => true,
    })
    if (unit) announcer.announce(unit.changes)
  }
}
