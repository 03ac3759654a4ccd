// Tests of webhook endpoints (docs/webhooks.md#test-an-endpoint): posts one delivery at once, and returns the result. Called by
// the HTTP routes.

import type { Delivery, DeliveryAttempt } from '../../domain/model/delivery.ts'
import { EngineError, invariant } from '../../domain/model/errors.ts'
import { testDelivery } from '../../domain/webhook/endpoint-test.ts'
import type { Actor } from '../commit/audit.ts'
import type { Core } from '../commit/core.ts'
import type { EngineHold } from '../support/engine-hold.ts'
import { DELIVERY_LEASE_MS, type Deliverer } from './deliver.ts'

/** Maximum tests under way at once, so that sockets are left for deliveries. */
const TESTS_MAX = 16
const NAMESPACE_TESTS_MAX = 4

export interface EndpointTestsDeps extends Pick<Core, 'store' | 'announcer' | 'catalog' | 'clock' | 'ids' | 'audit'> {
  deliverer: Pick<Deliverer, 'postNow'>
  /** A held engine posts nothing. */
  hold: Pick<EngineHold, 'isHeld'>
  /** The name under which this engine leases. */
  owner: string
}

export class EndpointTests {
  readonly #deps: EndpointTestsDeps
  /** The namespace of each test under way. */
  readonly #underWay: string[] = []

  constructor(deps: EndpointTestsDeps) {
    this.#deps = deps
  }

  /**
   * Resolves with the delivery after its attempt, which has the deadline of any post. Throws `not_found`, `conflict` while the
   * engine is held, or `overloaded` while the maximum number of tests is under way.
   */
  async test(actor: Actor, endpointId: string): Promise<{ delivery: Delivery; attempts: DeliveryAttempt[] }> {
    const { catalog } = this.#deps
    const endpoint = catalog.view(actor.namespace).endpoint(endpointId)
    if (!endpoint) throw new EngineError('not_found', 'no such webhook endpoint')
    if (this.#deps.hold.isHeld)
      throw new EngineError('conflict', 'this engine is held: it posts nothing until it is released')
    this.#begin(actor.namespace)
    try {
      return await this.#post(actor, endpoint)
    } finally {
      this.#underWay.splice(this.#underWay.indexOf(actor.namespace), 1)
    }
  }

  #begin(namespace: string): void {
    const own = this.#underWay.filter(each => each === namespace).length
    if (own >= NAMESPACE_TESTS_MAX || this.#underWay.length >= TESTS_MAX) {
      throw new EngineError('overloaded', 'too many tests of endpoints are in progress: try again when they have ended')
    }
    this.#underWay.push(namespace)
  }

  async #post(actor: Actor, endpoint: Parameters<typeof testDelivery>[0]) {
    const { store, announcer, clock, ids, owner, deliverer, audit } = this.#deps
    const now = clock.now()
    const id = ids.next('dlv', now)
    const delivery = testDelivery(endpoint, { id, owner, now, leaseMs: DELIVERY_LEASE_MS })
    const unit = { guards: [], changes: [{ type: 'delivery.created' as const, delivery }] }
    const detail = JSON.stringify({ id: endpoint.id, deliveryId: id })
    await audit.commit(actor, unit, { action: 'endpoint.test', detail })
    announcer.announce(unit.changes)
    await deliverer.postNow(delivery)
    const found = await store.in(actor.namespace).delivery(id)
    invariant(found, 'a delivery that was just created is there')
    return found
  }
}
