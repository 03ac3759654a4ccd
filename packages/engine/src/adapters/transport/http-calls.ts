// The calls under way of the HTTP transport, and of the webhook sender: each is a POST on a pooled connection.

import type { buildConnector, Dispatcher } from 'undici'
import { PendingCalls } from './pending-calls.ts'
import { type PoolLimits, Pools } from './pools.ts'
import type { Target } from './target.ts'

export interface HttpCallsOptions extends PoolLimits {
  /** How long `close` waits for the pending calls. */
  closeGraceMs?: number | undefined
  /** Opens each connection. */
  connect: buildConnector.connector
}

/** Events of a call; each happens once. */
export interface CallEvents<Reply> {
  /** Called when the call no longer waits for a connection. */
  onWaitOver(): void
  onReply(reply: Reply): void
}

type Call = Dispatcher.DispatchHandler & { fail(message: string): void }

export class HttpCalls {
  readonly pools: Pools
  readonly #closeGraceMs: number | undefined
  readonly #pending = new PendingCalls<number, Call>()
  #callCount = 0

  constructor({ connect, closeGraceMs, ...limits }: HttpCallsOptions) {
    this.pools = new Pools(limits, connect)
    this.#closeGraceMs = closeGraceMs
  }

  get isClosing(): boolean {
    return this.#pending.isClosing
  }

  /** Resolves to the reply of the call that `open` returns. */
  post<Reply>(
    { origin, path }: Target,
    { headers, body }: Pick<Dispatcher.DispatchOptions, 'headers' | 'body'>,
    open: (events: CallEvents<Reply>) => Call,
  ): Promise<Reply> {
    const entry = this.pools.acquire(origin)
    const no = ++this.#callCount
    return new Promise(resolve => {
      const call = open({
        onWaitOver: () => {
          entry.waiting--
        },
        onReply: reply => {
          this.pools.release(entry)
          this.#pending.delete(no)
          resolve(reply)
        },
      })
      this.#pending.add(no, call)
      entry.pool.dispatch({ method: 'POST', path, headers, body }, call)
    })
  }

  async close(): Promise<void> {
    await this.#pending.close(this.#closeGraceMs)
    await this.pools.destroy()
  }
}
