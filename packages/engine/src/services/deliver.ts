// Journey 3: posts webhook deliveries (contract §2.8). The row says `delivering` before the first byte goes out, and
// the attempt is appended in the commit that tells its end; an engine that dies in between leaves a lease to run out.

import type { Logger } from 'pino'
import type { Change } from '../domain/change.ts'
import type { Delivery } from '../domain/delivery.ts'
import { concludeAttempt, deliveryHeaders } from '../domain/delivery-attempt.ts'
import { StaleError } from '../domain/errors.ts'
import { derivedId } from '../domain/ids.ts'
import type { Clock, Random } from '../ports/clock.ts'
import type { Sender } from '../ports/sender.ts'
import type { Store } from '../ports/store.ts'
import type { Announcer } from './announce.ts'
import { Slots } from './slots.ts'

/** Deadline of one POST (decisions, "Webhooks"). */
const SEND_TIMEOUT_MS = 15_000
/** Longer than a POST can take, so that a healthy attempt never loses its lease. */
export const DELIVERY_LEASE_MS = 60_000

export interface DelivererDeps {
  store: Store
  sender: Sender
  announcer: Announcer
  clock: Clock
  random: Random
  log: Logger
  scheduleMs: readonly number[]
  /** Most deliveries under way at once. */
  deliveriesMax: number
}

export class Deliverer {
  readonly #deps: DelivererDeps
  readonly slots: Slots

  constructor(deps: DelivererDeps) {
    this.#deps = deps
    this.slots = new Slots(deps.deliveriesMax)
  }

  /** Takes over a delivery the lane has claimed; its slot was taken before the claim. */
  take(delivery: Delivery): void {
    void this.#deliver(delivery)
      .catch(error => {
        // Somebody else moved the delivery on: theirs is the truth.
        if (error instanceof StaleError) return
        this.#deps.log.error(
          { err: error, deliveryId: delivery.id },
          'a delivery was dropped; its lease will run out',
        )
      })
      .finally(() => this.slots.free())
  }

  /** Resolves when no delivery is under way; each is bounded by the deadline of its POST. */
  drain(): Promise<void> {
    return this.slots.idle()
  }

  async #deliver(claimed: Delivery): Promise<void> {
    const { sender, clock, random, scheduleMs } = this.#deps
    const delivery: Delivery = { ...claimed, status: 'delivering', updatedAt: clock.now() }
    await this.#commit(delivery, [])
    const result = await sender.send({
      url: delivery.url,
      headers: deliveryHeaders(delivery.id, clock.now()),
      body: delivery.payload ?? 'null',
      timeoutMs: SEND_TIMEOUT_MS,
    })
    const now = clock.now()
    const attemptId = derivedId('att', now, delivery.id, String(delivery.attemptCount + 1))
    const ended = concludeAttempt({ delivery, result, attemptId, now, random: random.next(), scheduleMs })
    await this.#commit(ended.delivery, [{ type: 'delivery.attempted', attempt: ended.attempt }])
  }

  async #commit(delivery: Delivery, changes: Change[]): Promise<void> {
    const { store, announcer } = this.#deps
    const moved: Change[] = [{ type: 'delivery.moved', delivery }, ...changes]
    await store.commit({
      guards: [{ type: 'delivery', deliveryId: delivery.id, fence: delivery.fence }],
      changes: moved,
    })
    if (delivery.leaseOwner === undefined) announcer.announce(moved)
  }
}
