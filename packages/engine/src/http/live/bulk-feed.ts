// The state of bulk jobs for the streams that follow them. Streams with the same job and interval share a feed, which reads the
// job when something of it was committed, and also from time to time. Used by routes/operating/stream.ts.

import type { Clock } from '../../ports/clock.ts'
import type { Live } from '../../services/live/live.ts'
import { pause, type Sink, wait } from './broadcast.ts'

/** The state of a job as a message. */
export interface BulkState {
  /** The state without the time of the message. */
  text: string
  bytes: Buffer
  /** The state is the last one. */
  isOver: boolean
}

/** A stream of the feed. */
export interface BulkSink extends Sink {
  abort(): void
}

export interface BulkFeedsDeps {
  live: Pick<Live, 'bulks'>
  clock: Clock
  /** A feed reads after this time if nothing was published: publications may be lost. */
  rereadMs: number
  read(job: BulkTopic): Promise<BulkState>
}

export interface BulkTopic {
  namespace: string
  bulkId: string
}

/** The pause after a read is at least this many times as long as the read: results of a running job are counted. */
const PAUSE_PER_READ = 10

export class BulkFeeds {
  readonly #deps: BulkFeedsDeps
  readonly #feeds = new Map<string, BulkFeed>()

  constructor(deps: BulkFeedsDeps) {
    this.#deps = deps
  }

  /** Sends the stream the job's present state and its changes, until the job is over or the returned function is called. */
  join(topic: BulkTopic & { everyMs: number }, sink: BulkSink): () => void {
    const key = JSON.stringify([topic.namespace, topic.bulkId, topic.everyMs])
    let feed = this.#feeds.get(key)
    if (!feed) {
      feed = new BulkFeed(this.#deps, { ...topic, onEmpty: () => this.#feeds.delete(key) })
      this.#feeds.set(key, feed)
    }
    return feed.join(sink)
  }
}

class BulkFeed {
  readonly #deps: BulkFeedsDeps
  readonly #topic: BulkTopic & { everyMs: number; onEmpty(): void }
  readonly #stopListening: () => void
  /** The streams, each with the state that it has. */
  readonly #sinks = new Map<BulkSink, string | undefined>()
  #isChanged = false
  #isRunning = false
  #wake = (): void => {}
  #cancelPause = (): void => {}

  constructor(deps: BulkFeedsDeps, topic: BulkTopic & { everyMs: number; onEmpty(): void }) {
    this.#deps = deps
    this.#topic = topic
    // The stream already counts as one of several topics.
    this.#stopListening = deps.live.bulks.on(
      topic.bulkId,
      () => this.#changed(),
      () => 0,
    )
  }

  join(sink: BulkSink): () => void {
    this.#sinks.set(sink, undefined)
    this.#changed()
    if (!this.#isRunning) void this.#run()
    return () => {
      if (this.#sinks.delete(sink)) this.#leaveIfEmpty()
    }
  }

  #changed(): void {
    this.#isChanged = true
    this.#wake()
  }

  #leaveIfEmpty(): void {
    if (this.#sinks.size > 0) return
    this.#stopListening()
    this.#topic.onEmpty()
    this.#wake()
    this.#cancelPause()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    try {
      while (this.#sinks.size > 0) await this.#sendNext()
    } catch {
      // The client connects again, and then gets the reason.
      for (const sink of [...this.#sinks.keys()]) sink.abort()
    }
  }

  async #sendNext(): Promise<void> {
    const { clock, read } = this.#deps
    await this.#nextChange()
    if (this.#sinks.size === 0) return
    const before = clock.elapsed()
    const { text, bytes, isOver } = await read(this.#topic)
    for (const [sink, has] of this.#sinks) {
      if (has === text) continue
      this.#sinks.set(sink, text)
      sink.offer(bytes)
    }
    if (isOver) {
      this.#sinks.clear()
      this.#leaveIfEmpty()
    } else {
      const ms = Math.max(this.#topic.everyMs, PAUSE_PER_READ * (clock.elapsed() - before))
      await pause(clock, ms, cancel => {
        this.#cancelPause = cancel
      })
    }
  }

  /** Resolves when something was committed since the last read, or after a while. */
  async #nextChange(): Promise<void> {
    const { clock, rereadMs } = this.#deps
    if (!this.#isChanged)
      await wait(clock, rereadMs, wake => {
        this.#wake = wake
      })
    this.#isChanged = false
  }
}
