// Sends everything published in a namespace to the streams that follow it: each item as one message, encoded at most once. Used
// by routes/event/namespace-streams.ts.

import type { Clock } from '../../ports/clock.ts'
import type { Live, Topic } from '../../services/live/live.ts'
import { Broadcast, lazyMessage, type Sink } from './broadcast.ts'
import { gapMessage } from './gap.ts'

interface FanOutOptions<T> {
  topic: Topic<T>
  clock: Pick<Clock, 'after' | 'now'>
  /** Reports when items may have been missed. */
  gaps: Pick<Live, 'onGap'>
  encode(item: T): string
  /** The approximate bytes of the encoded item. */
  sizeOf(item: T): number
}

export class FanOut<T> {
  readonly #options: FanOutOptions<T>
  readonly #broadcasts = new Map<string, { broadcast: Broadcast; stopListening: () => void }>()

  constructor(options: FanOutOptions<T>) {
    this.#options = options
    options.gaps.onGap(() => {
      for (const { broadcast } of this.#broadcasts.values()) broadcast.send(gapMessage(options.clock))
    })
  }

  /** Sends the stream everything published for the namespace from now on, until the returned function is called. */
  join(namespace: string, stream: Sink): () => void {
    const opened = this.#broadcasts.get(namespace) ?? this.#open(namespace)
    const { broadcast, stopListening } = opened
    broadcast.add(stream)
    return () => {
      broadcast.remove(stream)
      if (broadcast.size > 0 || this.#broadcasts.get(namespace) !== opened) return
      this.#broadcasts.delete(namespace)
      stopListening()
      broadcast.close()
    }
  }

  #open(namespace: string): { broadcast: Broadcast; stopListening: () => void } {
    const { topic, clock, encode, sizeOf } = this.#options
    const broadcast = new Broadcast({ clock })
    const send = (item: T): void => broadcast.send(lazyMessage(() => encode(item), { size: sizeOf(item) }))
    const opened = { broadcast, stopListening: topic.on(namespace, send, () => broadcast.size) }
    this.#broadcasts.set(namespace, opened)
    return opened
  }
}
