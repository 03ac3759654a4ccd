// Sends what is published in a namespace to the streams that follow it. Each message is encoded once. Few streams get it at
// once. Many get all that was published since their last round in one write, a slice of the streams at a time, with a pause
// after each round: requests must not wait for thousands of writes. Used by routes/event/namespace-streams.ts.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../ports/clock.ts'
import type { Topic } from '../../services/live/live.ts'

/** Up to this many streams get each message at once; more get it in slices of this size. */
export const SLICE_STREAMS = 100
/** The pause after a round, for each stream: rounds take a small part of the time, however many streams there are. */
const PAUSE_MS_PER_STREAM = 0.25
/** Most bytes that wait for the next round; then they are sent to all streams at once. */
const WAITING_BYTES_MAX = 1024 * 1024

/** The part of a stream that takes messages. */
interface Sink {
  offer(bytes: Buffer): void
}

interface FanOutOptions<T> {
  topic: Topic<T>
  clock: Pick<Clock, 'after'>
  encode(item: T): Buffer
}

export class FanOut<T> {
  readonly #options: FanOutOptions<T>
  readonly #channels = new Map<string, Channel>()

  constructor(options: FanOutOptions<T>) {
    this.#options = options
  }

  /** Sends the stream everything published for the namespace from now on, until the returned function is called. */
  join(namespace: string, stream: Sink): () => void {
    const channel = this.#channels.get(namespace) ?? this.#open(namespace)
    channel.add(stream)
    return () => {
      channel.remove(stream)
      if (channel.size === 0 && this.#channels.get(namespace) === channel) {
        this.#channels.delete(namespace)
        channel.close()
      }
    }
  }

  #open(namespace: string): Channel {
    const { topic, clock, encode } = this.#options
    const channel: Channel = new Channel(clock, () => stopListening())
    const stopListening = topic.on(
      namespace,
      item => channel.send(encode(item)),
      () => channel.size,
    )
    this.#channels.set(namespace, channel)
    return channel
  }
}

/** The streams of a namespace, and the messages that wait for their next round. */
class Channel {
  readonly #clock: Pick<Clock, 'after'>
  readonly #stopListening: () => void
  readonly #streams = new Set<Sink>()
  #waiting: Buffer[] = []
  #waitingBytes = 0
  /** Streams that came while messages were waiting, with how many of those were published before they came. */
  readonly #late = new Map<Sink, number>()
  /** The message of the round under way, and the streams that do not have it yet. */
  #bytes = Buffer.alloc(0)
  #rest: Sink[] = []
  /** A round, or the pause after it, is under way. */
  #isBusy = false
  #isClosed = false
  #cancelPause = (): void => {}

  constructor(clock: Pick<Clock, 'after'>, stopListening: () => void) {
    this.#clock = clock
    this.#stopListening = stopListening
  }

  get size(): number {
    return this.#streams.size
  }

  add(stream: Sink): void {
    this.#streams.add(stream)
    if (this.#waiting.length > 0) this.#late.set(stream, this.#waiting.length)
  }

  remove(stream: Sink): void {
    this.#streams.delete(stream)
    this.#late.delete(stream)
  }

  send(bytes: Buffer): void {
    if (!this.#isBusy && this.#streams.size <= SLICE_STREAMS) {
      for (const stream of this.#streams) stream.offer(bytes)
      return
    }
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
    if (!this.#isBusy) void this.#rounds()
    else if (this.#waitingBytes > WAITING_BYTES_MAX) {
      this.#sendTo(this.#rest.length)
      this.#beginRound()
      this.#sendTo(this.#rest.length)
    }
  }

  close(): void {
    this.#isClosed = true
    this.#cancelPause()
    this.#stopListening()
  }

  async #rounds(): Promise<void> {
    this.#isBusy = true
    while (this.#waiting.length > 0) {
      this.#beginRound()
      const pauseMs = this.#streams.size * PAUSE_MS_PER_STREAM
      while (this.#rest.length > 0) {
        this.#sendTo(SLICE_STREAMS)
        await nextTurn()
      }
      if (this.#isClosed) return
      await new Promise<void>(resolve => {
        this.#cancelPause = this.#clock.after(pauseMs, resolve)
      })
    }
    this.#isBusy = false
  }

  #beginRound(): void {
    for (const [stream, missed] of this.#late) {
      const published = this.#waiting.slice(missed)
      if (published.length > 0) stream.offer(Buffer.concat(published))
    }
    this.#rest = [...this.#streams].filter(stream => !this.#late.has(stream))
    this.#bytes = Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#waitingBytes = 0
    this.#late.clear()
  }

  #sendTo(count: number): void {
    for (const stream of this.#rest.splice(0, count)) if (this.#streams.has(stream)) stream.offer(this.#bytes)
  }
}
