// The timeline of a run on one stream: stored frames first, then the frames of the run's feed. Used by routes/run/run-stream.ts
// and the topics of routes/operating/stream.ts.

import { isTerminal } from '../../domain/model/run.ts'
import type { TimelinePage } from '../../ports/store-reads.ts'
import type { Follower, RunFeed } from './run-feed.ts'
import type { SseStream } from './sse.ts'
import { type FrameForm, frameMessages, type Timeline } from './timeline.ts'

export interface RunReaderOptions extends FrameForm {
  feed: RunFeed
  timeline: Timeline
}

export class RunReader implements Follower {
  readonly ids: boolean
  readonly isPublic: boolean
  after = 0
  readonly #feed: RunFeed
  readonly #timeline: Timeline
  #stream: SseStream | undefined
  #settle: (why: 'ended' | 'slow' | Error) => void = () => {}

  /** The feed must have been entered before the timeline was read. */
  constructor({ feed, timeline, ids, isPublic = false }: RunReaderOptions) {
    this.#feed = feed
    this.#timeline = timeline
    this.ids = ids
    this.isPublic = isPublic
  }

  get isStalled(): boolean {
    return this.#stream?.isStalled === true
  }

  write(bytes: Buffer): void {
    void this.#stream?.write(bytes)
  }

  left(why: 'ended' | 'slow' | Error): void {
    this.#settle(why)
  }

  /** Ends the wait of `send`. Called when the stream closes. */
  stop(): void {
    this.#feed.unfollow(this)
    this.#settle('ended')
  }

  /** Sends the page and everything after it, until the run's last frame is sent or the stream is closed. */
  async send(stream: SseStream, firstPage: TimelinePage): Promise<void> {
    this.#stream = stream
    let page = firstPage
    for (;;) {
      if (page.frames.length > 0) await stream.write(frameMessages(page.frames, this))
      if (!page.more) {
        if (page.status === undefined || isTerminal(page.status) || !stream.open) return
        const why = await this.#follow()
        if (why instanceof Error) throw why
        if (why === 'ended') return
        await stream.whenRead()
      }
      if (!stream.open) return
      page = await this.#timeline.read()
    }
  }

  async #follow(): Promise<'ended' | 'slow' | Error> {
    this.after = this.#timeline.after
    const why = await new Promise<'ended' | 'slow' | Error>(resolve => {
      this.#settle = resolve
      this.#feed.follow(this)
    })
    this.#timeline.after = this.after
    return why
  }
}
