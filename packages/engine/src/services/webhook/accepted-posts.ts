// When receivers last accepted a post (docs/webhooks.md#receive-webhooks): kept in memory and written once a minute, so that a
// post needs no separate write. services/webhook/inbound notes the posts.

import type { Receiver } from '../../domain/model/receiver.ts'
import type { Core } from '../commit/core.ts'
import { RepeatingTask } from '../support/repeating-task.ts'
import { untilDeadline } from '../support/until-deadline.ts'

/** Time from one write to the next. A crash forgets the posts of that time. */
const WRITE_EVERY_MS = 60_000
/** Receivers in one write. */
const WRITTEN_MAX = 500

export type AcceptedPostsDeps = Pick<Core, 'store' | 'clock' | 'log'>

export class AcceptedPosts extends RepeatingTask {
  readonly #deps: AcceptedPostsDeps
  /** Times that are not durable yet, by receiver. */
  readonly #unwritten = new Map<string, number>()

  constructor(deps: AcceptedPostsDeps) {
    const { clock, log } = deps
    super({
      clock,
      everyMs: WRITE_EVERY_MS,
      run: () => this.#write(),
      onFailure: err => log.error({ err }, 'the times of accepted posts could not be written; they are kept'),
    })
    this.#deps = deps
  }

  /** Notes that a receiver accepts a post now. */
  note({ id }: Pick<Receiver, 'id'>): void {
    this.#unwritten.set(id, this.#deps.clock.now())
  }

  /** When each of these receivers of the namespace last accepted a post: on this engine, or up to a minute ago on another one. */
  async lastAt(namespace: string, ids: readonly string[]): Promise<Map<string, number>> {
    const times = await this.#deps.store.lastAcceptedAt(namespace, ids)
    for (const id of ids) {
      const own = this.#unwritten.get(id)
      if (own !== undefined) times.set(id, Math.max(own, times.get(id) ?? own))
    }
    return times
  }

  /** Also writes the last times, if the store answers by the deadline. */
  override async stop(deadline?: AbortSignal): Promise<void> {
    await super.stop(deadline)
    const written = this.#write().catch(() => {})
    await untilDeadline(written, deadline)
  }

  async #write(): Promise<void> {
    const times = [...this.#unwritten].map(([id, at]) => ({ id, at }))
    for (let from = 0; from < times.length; from += WRITTEN_MAX) {
      const some = times.slice(from, from + WRITTEN_MAX)
      await this.#deps.store.receiversAccepted(some)
      for (const { id, at } of some) if (this.#unwritten.get(id) === at) this.#unwritten.delete(id)
    }
  }
}
