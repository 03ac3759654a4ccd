// Posts webhook deliveries (docs/webhooks.md#deliveries). The claim makes the row `delivering` before the first byte goes
// out, and the attempt is appended in the commit of its end. If the engine dies in between, its lease runs out: the engine
// that claims the row next appends the attempt instead, and posts again when the schedule allows.

import type { Unit } from '../../domain/model/change.ts'
import { type Delivery, destinationOf } from '../../domain/model/delivery.ts'
import { disabledAsGone, type Endpoint } from '../../domain/model/endpoint.ts'
import { derivedId } from '../../domain/text/ids.ts'
import { childTraceparent, spanIdOf, traceparentOf } from '../../domain/text/traceparent.ts'
import { countedPost } from '../../domain/webhook/attempt-tally.ts'
import {
  type Conclusion,
  concludeAttempt,
  deliveryHeaders,
  type SendResult,
} from '../../domain/webhook/delivery-attempt.ts'
import { secretsAt } from '../../domain/webhook/secrets.ts'
import type { SendCall, Sender } from '../../ports/sender.ts'
import type { Claim, ClaimedDelivery } from '../../ports/store.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'
import { Permits } from '../support/permits.ts'
import type { Stoppable } from '../support/service.ts'
import { endDeliverySpan, startDeliverySpan } from '../support/spans.ts'
import { Destinations } from './destinations.ts'
import type { Vault } from './vault.ts'
import { reloadWebhooks } from './versioned-resource.ts'

/** Deadline of one POST. */
const DELIVERY_POST_TIMEOUT_MS = 15_000
/**
 * Longer than a POST can take, so that a healthy attempt never loses its lease; and no longer than needed, since the
 * deliveries of an engine that died wait for it to run out.
 */
export const DELIVERY_LEASE_MS = DELIVERY_POST_TIMEOUT_MS + 10_000

export interface DelivererDeps
  extends Pick<Core, 'store' | 'announcer' | 'catalog' | 'clock' | 'random' | 'tracing' | 'log'> {
  sender: Sender
  vault: Vault
  scheduleMs: readonly number[]
  /** Maximum deliveries under way at once. */
  deliveriesMax: number
  /** Called when a destination that was full has room again. */
  onRoom(): void
}

export class Deliverer implements Stoppable {
  readonly #deps: DelivererDeps
  readonly #destinations: Destinations
  readonly permits: Permits

  constructor(deps: DelivererDeps) {
    this.#deps = deps
    this.#destinations = new Destinations(deps.deliveriesMax)
    this.permits = new Permits(deps.deliveriesMax)
  }

  /** Claims due deliveries, as many as their destinations have room for. Each must be passed to `accept`. */
  async claim(claim: Claim): Promise<ClaimedDelivery[]> {
    const claimed = await this.#deps.store.claimDeliveries({ ...claim, ...this.#destinations.limits() })
    for (const delivery of claimed) this.#destinations.begin(destinationOf(delivery))
    return claimed
  }

  /** Posts a delivery that the lane has claimed. */
  accept({ isCutOff, ...delivery }: ClaimedDelivery): void {
    // A destination that crashes engines uses up its attempts like any other.
    const cutOff: Posted = { url: delivery.url, result: { kind: 'cutOff' } }
    void this.#attempt(delivery, isCutOff ? async () => cutOff : () => this.#post(delivery))
  }

  /**
   * Posts a delivery that was created with a lease of this engine, whatever else is under way; resolves when its end is stored.
   */
  postNow(delivery: Delivery): Promise<void> {
    this.#destinations.begin(destinationOf(delivery))
    return this.#attempt(delivery, () => this.#post(delivery))
  }

  async #attempt(delivery: Delivery, post: () => Promise<Posted>): Promise<void> {
    this.permits.take()
    let result: SendResult | undefined
    try {
      const posted = await post()
      result = posted.result
      await this.#conclude(delivery, posted)
    } catch (error) {
      this.#deps.log.error({ err: error, deliveryId: delivery.id }, 'a delivery was dropped; its lease will run out')
    } finally {
      const { hadNoRoom } = this.#destinations.end(destinationOf(delivery), result && hasAnswered(result))
      this.permits.giveBack()
      if (hadNoRoom) this.#deps.onRoom()
    }
  }

  /** Resolves when no delivery is under way; the deadline of its POST bounds each one. */
  stop(): Promise<void> {
    return this.permits.waitUntilIdle()
  }

  /** Makes one attempt: to the present endpoint, signed with the secrets that count now. */
  async #post(delivery: Delivery): Promise<Posted> {
    const { catalog, vault, clock } = this.#deps
    const { id, namespace, endpointId, eventKind, payload: body = 'null' } = delivery
    const endpoint = endpointId === undefined ? undefined : catalog.view(namespace).endpoint(endpointId)
    const url = endpoint?.url ?? delivery.url
    // A disabled endpoint may be tested before it is enabled again.
    const isOff = endpoint ? !endpoint.enabled && eventKind !== 'test' : endpointId !== undefined
    if (isOff) {
      const error = `the endpoint is ${endpoint ? 'disabled' : 'deleted'}`
      return { url, result: { kind: 'endpointOff', error } }
    }
    const now = clock.now()
    const secrets = endpoint
      ? secretsAt(endpoint, now).map(sealed => vault.open(sealed, { ...endpoint, kind: 'endpoint' }))
      : []
    const headers = deliveryHeaders({ id, body, now, secrets })
    const call = { url, headers, body, timeoutMs: DELIVERY_POST_TIMEOUT_MS }
    return { url, ...(await this.#send(delivery, call)) }
  }

  /** Sends it in the trace of the run that caused the delivery. */
  async #send(delivery: Delivery, call: SendCall): Promise<Pick<Posted, 'result' | 'headers'>> {
    const { sender, tracing, clock, random } = this.#deps
    const parent = delivery.trace ?? traceparentOf(delivery.sourceRunId ?? delivery.id)
    const span = tracing && startDeliverySpan(tracing, delivery, { parent, url: call.url, now: clock.now() })
    const traceparent = span?.traceparent ?? childTraceparent(parent, spanIdOf(random.next(), random.next()))
    const headers = { ...call.headers, traceparent }
    const result = await sender.send({ ...call, headers })
    if (span) endDeliverySpan(span, result, clock.now())
    return result.kind === 'refusedAddress' ? { result } : { result, headers }
  }

  /** Stores the result of the attempt, unless another engine has changed the delivery since: then that engine's result counts. */
  async #conclude(delivery: Delivery, { url, ...posted }: Posted): Promise<void> {
    const { store, announcer, catalog, clock, random, scheduleMs } = this.#deps
    const now = clock.now()
    const attemptId = derivedId('att', now, delivery.id, String(delivery.attemptCount + 1))
    const sent = { delivery: { ...delivery, url }, ...posted, attemptId, now }
    const conclusion = concludeAttempt({ ...sent, random: random.next(), scheduleMs })
    const unit = await decideAndCommit<Unit>({
      store,
      decide: () => this.#unit(conclusion, now),
      onStale: async ({ type }) => {
        if (type !== 'endpoint') return false
        await reloadWebhooks(store, catalog)
        return true
      },
    })
    if (!unit) return
    catalog.apply(unit.changes)
    announcer.announce(unit.changes)
  }

  #unit({ delivery, attempt, isGone }: Conclusion, now: number): Unit {
    const unit: Unit = {
      guards: [{ type: 'delivery', deliveryId: delivery.id, fence: delivery.fence }],
      changes: [
        { type: 'delivery.moved', delivery },
        { type: 'delivery.attempted', attempt, counted: countedPost(delivery, attempt) },
      ],
    }
    const endpoint = isGone ? this.#stillThere(delivery) : undefined
    if (endpoint) {
      unit.guards.push({ type: 'endpoint', id: endpoint.id, version: endpoint.version })
      unit.changes.push({ type: 'endpoint.saved', endpoint: disabledAsGone(endpoint, now) })
    }
    return unit
  }

  /** The delivery's endpoint, if it is enabled and still has the URL that was called. */
  #stillThere({ namespace, endpointId, url }: Delivery): Endpoint | undefined {
    const endpoint = endpointId === undefined ? undefined : this.#deps.catalog.view(namespace).endpoint(endpointId)
    return endpoint?.enabled && endpoint.url === url ? endpoint : undefined
  }
}

interface Posted {
  url: string
  result: SendResult
  /** The headers of the post, if there was one. */
  headers?: Record<string, string>
}

/** Whether the destination answered; undefined when nothing was sent, or the result is unknown. */
function hasAnswered({ kind }: SendResult): boolean | undefined {
  if (kind === 'refusedAddress' || kind === 'endpointOff' || kind === 'cutOff') return undefined
  return kind === 'answered'
}
