// The webhook sender: one POST to a customer's server, which may be slow or hostile (docs/webhooks.md#deliveries).
// The deliverer calls it once per attempt.

import { AddressList } from '../../domain/text/address-list.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SendCall, Sender, SendReply } from '../../ports/sender.ts'
import { CLOSE_GRACE_MS, ENGINE_CLOSING, PendingCalls } from '../transport/pending-calls.ts'
import { CONNECT_TIMEOUT_MS, type PoolLimits, Pools } from '../transport/pools.ts'
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
  // As many as an engine has deliveries under way: a delivery that waited here would use up its attempt unsent.
  connectionsMax: 256,
  poolsMax: 64,
  idleMs: 10_000,
}

export class HttpSender implements Sender {
  readonly #clock: Clock
  readonly #closeGraceMs: number
  readonly #pools: Pools
  readonly #targets = new TargetCache()
  readonly #pending = new PendingCalls<number, SendExchange>()
  #callCount = 0
  #closed: Promise<void> | undefined

  constructor(options: HttpSenderOptions) {
    const { allowList = AddressList.none } = options
    this.#clock = options.clock
    this.#closeGraceMs = options.closeGraceMs ?? CLOSE_GRACE_MS
    const connect = guardedConnector({
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      allows: options.allowPrivate ? () => true : (address, host) => allowList.allows(address, host),
      ...options,
    })
    this.#pools = new Pools({ ...DEFAULT_LIMITS, ...options }, connect)
  }

  send(call: SendCall): Promise<SendReply> {
    const { url, headers, body, timeoutMs } = call
    if (this.#closed)
      return Promise.resolve({ kind: 'connectionError', error: ENGINE_CLOSING, durationMs: 0 })
    const target = this.#targets.get(url)
    if (typeof target === 'string') return Promise.resolve({ kind: 'refusedAddress', error: target })
    const origin = this.#pools.acquire(target.origin)
    const no = ++this.#callCount
    return new Promise(resolve => {
      const exchange = new SendExchange({
        timeoutMs,
        now: () => this.#clock.now(),
        onWaitOver: () => {
          origin.waiting--
        },
        onReply: reply => {
          this.#pools.release(origin)
          this.#pending.delete(no)
          resolve(reply)
        },
      })
      this.#pending.add(no, exchange)
      origin.pool.dispatch({ method: 'POST', path: target.path, headers, body }, exchange)
    })
  }

  close(): Promise<void> {
    this.#closed ??= this.#end()
    return this.#closed
  }

  async #end(): Promise<void> {
    await this.#pending.drain(this.#closeGraceMs)
    await this.#pools.destroy()
  }
}
