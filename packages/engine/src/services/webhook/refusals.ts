// The last posts that receivers refused, in the memory of this engine (docs/webhooks.md#refused-posts). Anybody may post at
// will, so both numbers are bounded. Called by services/webhook/inbound.

import type { Receiver } from '../../domain/model/receiver.ts'
import type { Refusal } from '../../domain/webhook/refusal.ts'

/** Maximum refusals of one receiver that are kept. */
const PER_RECEIVER_MAX = 20
/** Maximum receivers, over all namespaces, whose refusals are kept: about 4 MB. */
const RECEIVERS_MAX = 1000

type Whose = Pick<Receiver, 'namespace' | 'id'>

export class Refusals {
  /** The receivers of each namespace; the one with the newest refusal is at the end. */
  readonly #kept = new Map<string, Map<string, Refusal[]>>()
  readonly #receiversMax: number
  #receivers = 0

  constructor({ receiversMax = RECEIVERS_MAX } = {}) {
    this.#receiversMax = receiversMax
  }

  add({ namespace, id }: Whose, refusal: Refusal): void {
    let own = this.#kept.get(namespace)
    if (!own) {
      own = new Map()
      this.#kept.set(namespace, own)
    }
    const before = own.get(id)
    own.delete(id)
    own.set(id, [refusal, ...(before ?? []).slice(0, PER_RECEIVER_MAX - 1)])
    if (before) return
    this.#receivers++
    if (this.#receivers > this.#receiversMax) this.#forgetOne()
  }

  /** Newest first. */
  list({ namespace, id }: Whose): readonly Refusal[] {
    return this.#kept.get(namespace)?.get(id) ?? []
  }

  /**
   * Forgets the receiver whose newest refusal is the oldest, in the namespace with the most receivers: a namespace cannot
   * displace the refusals of others.
   */
  #forgetOne(): void {
    const [[namespace, own]] = [...this.#kept].sort(([, a], [, b]) => b.size - a.size) as [
      [string, Map<string, Refusal[]>],
    ]
    const [quietest] = own.keys()
    own.delete(quietest as string)
    if (own.size === 0) this.#kept.delete(namespace)
    this.#receivers--
  }
}
