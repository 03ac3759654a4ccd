// The webhook sender: one POST to a customer's server, which may be slow or hostile (docs/webhooks.md#deliveries).
// The deliverer calls it once per attempt.

import { AddressList } from '../../domain/text/address-list.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SendCall, Sender, SendReply } from '../../ports/sender.ts'
import { HttpCalls } from '../transport/http-calls.ts'
import { ENGINE_CLOSING } from '../transport/pending-calls.ts'
import { CONNECT_TIMEOUT_MS, type PoolLimits } from '../transport/pools.ts'
import { TargetCache } from '../transport/target.ts'
import { type GuardOptions, guardedConnector } from './guarded-connect.ts'
import { SendExchange } from './send-exchange.ts'

export interface HttpSenderOptions extends Partial<PoolLimits & GuardOptions> {
  clock: Clock
  /** Allows private addresses: for development, and for engines that serve one private network. */
  allowPrivate?: boolean
  /** Addresses that may be called besides public ones. */
  allowList?: AddressList
  /** How long `close` waits for the pending calls. */
  closeGraceMs?: number
}

const DEFAULT_LIMITS: PoolLimits = {
  // As many as the deliveries that an engine has under way: a delivery that waited here would use up its attempt unsent.
  connectionsMax: 256,
  poolsMax: 64,
  idleMs: 10_000,
}

export class HttpSender implements Sender {
  readonly #clock: Clock
  readonly #targets = new TargetCache()
  readonly #calls: HttpCalls

  constructor(options: HttpSenderOptions) {
    const { allowList = AddressList.none } = options
    this.#clock = options.clock
    const connect = guardedConnector({
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      allows: options.allowPrivate ? () => true : (address, host) => allowList.allows(address, host),
      ...options,
    })
    this.#calls = new HttpCalls({ ...DEFAULT_LIMITS, ...options, connect })
  }

  send(call: SendCall): Promise<SendReply> {
    if (this.#calls.isClosing) return Promise.resolve({ kind: 'connectionError', error: ENGINE_CLOSING, durationMs: 0 })
    const target = this.#targets.get(call.url)
    if (typeof target === 'string') return Promise.resolve({ kind: 'refusedAddress', error: target })
    return this.#calls.post(target, call, events => new SendExchange(call.timeoutMs, this.#clock, events))
  }

  close(): Promise<void> {
    return this.#calls.close()
  }
}
