// The new frames of the runs that streams follow. All streams of one run share a feed: it takes published frames or reads
// the store once, encodes the frames once, and writes them to every stream in rounds. Used by run-reader.ts.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { isTerminal } from '../../domain/model/run.ts'
import type { StoredFrame } from '../../domain/view/timeline-frames.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Store } from '../../ports/store.ts'
import type { Live } from '../../services/live/live.ts'
import type { HttpLimits } from '../request/limits.ts'
import { pause, pauseMs, SLICE_STREAMS } from './broadcast.ts'
import { isEnd, RunTail } from './run-tail.ts'
import { type FrameForm, frameMessages, Timeline } from './timeline.ts'

/** A stream that has received every frame up to `after`. */
export interface Follower extends FrameForm {
  after: number
  /** True while the client has not read what was written. */
  readonly isStalled: boolean
  write(bytes: Buffer): void
  /** The feed sends it nothing more: the run has ended, the client is too slow for the feed, or a read failed. */
  left(why: 'ended' | 'slow' | Error): void
}

export interface RunFeedsDeps {
  live: Pick<Live, 'runs' | 'running'>
  store: Pick<Store, 'in'>
  clock: Clock
  limits: Pick<HttpLimits, 'rereadMs' | 'pageFrames'>
}

export class RunFeeds {
  readonly #deps: RunFeedsDeps
  readonly #feeds = new Map<string, RunFeed>()

  constructor(deps: RunFeedsDeps) {
    this.#deps = deps
  }

  /** Returns the run's feed, which misses no commit from now on, until `leave` has been called for each call of this. */
  enter(namespace: string, runId: string): RunFeed {
    const key = `${namespace}\n${runId}`
    let feed = this.#feeds.get(key)
    if (!feed) {
      feed = new RunFeed(this.#deps, { namespace, runId, onEmpty: () => this.#feeds.delete(key) })
      this.#feeds.set(key, feed)
    }
    feed.enter()
    return feed
  }
}

interface RunFeedOptions {
  namespace: string
  runId: string
  onEmpty(): void
}

export class RunFeed {
  readonly #deps: RunFeedsDeps
  readonly #onEmpty: () => void
  readonly #tail = new RunTail()
  readonly #stopListening: () => void
  readonly #stopRunning: () => void
  readonly #newTimeline: (after: number) => Timeline
  readonly #followers = new Set<Follower>()
  /** Streams that have entered, whether they follow or still read for themselves. */
  #streams = 0
  #timeline: Timeline
  #isRunning = false
  #cancelPause = (): void => {}

  constructor(deps: RunFeedsDeps, { namespace, runId, onEmpty }: RunFeedOptions) {
    this.#deps = deps
    this.#onEmpty = onEmpty
    const options = { reads: deps.store.in(namespace), runId, limit: deps.limits.pageFrames }
    this.#newTimeline = after => new Timeline(options, after)
    this.#timeline = this.#newTimeline(0)
    this.#stopListening = deps.live.runs.on(
      runId,
      frames => this.#tail.notify(frames),
      () => this.#streams,
    )
    this.#stopRunning = deps.live.running.on(
      runId,
      frame => this.#pass(frame),
      () => 0,
    )
  }

  enter(): void {
    this.#streams++
  }

  leave(): void {
    if (--this.#streams > 0) return
    this.#stopListening()
    this.#stopRunning()
    this.#onEmpty()
  }

  /** Sends the stream every frame after its `after`, until `unfollow` or `left`. It must have entered before it read them. */
  follow(follower: Follower): void {
    if (this.#followers.size === 0) this.#timeline = this.#newTimeline(follower.after)
    else if (follower.after < this.#timeline.after) {
      this.#timeline = this.#newTimeline(follower.after)
      this.#tail.notify(undefined)
    }
    this.#followers.add(follower)
    if (!this.#isRunning) void this.#run()
  }

  unfollow(follower: Follower): void {
    this.#followers.delete(follower)
    if (this.#followers.size > 0) return
    this.#tail.endWait()
    this.#cancelPause()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    try {
      while (this.#followers.size > 0) await this.#sendNext()
    } catch (error) {
      for (const follower of [...this.#followers]) this.#dismiss(follower, error as Error)
    }
    this.#isRunning = false
  }

  /** Waits for the next frames and sends them, as a round with its pause. */
  async #sendNext(): Promise<void> {
    const { clock, limits } = this.#deps
    const timeline = this.#timeline
    const published = await this.#tail.next(timeline.after, clock, limits.rereadMs)
    // A stream that joined meanwhile may be behind.
    if (timeline !== this.#timeline || this.#followers.size === 0) return
    const { frames, hasEnded } = published ? taken(timeline, published) : await this.#read(timeline)
    const bytes = await this.#send(frames)
    if (hasEnded) for (const follower of [...this.#followers]) this.#dismiss(follower, 'ended')
    else if (bytes > 0)
      await pause(clock, pauseMs(this.#followers.size, bytes), cancel => {
        this.#cancelPause = cancel
      })
  }

  async #read(timeline: Timeline): Promise<Taken> {
    const { frames, more, status } = await timeline.read()
    if (more) this.#tail.notify(undefined)
    return { frames, hasEnded: !more && (status === undefined || isTerminal(status)) }
  }

  /** Writes the frames to the streams that lack them; returns their number of bytes. */
  async #send(frames: readonly StoredFrame[]): Promise<number> {
    const [first, last] = [frames[0], frames.at(-1)]
    if (!first || !last) return 0
    const encoded = new Map<string, Buffer>()
    const encode = (form: FrameForm): Buffer => {
      const name = `${form.ids} ${form.isPublic}`
      const bytes = encoded.get(name) ?? frameMessages(frames, form)
      encoded.set(name, bytes)
      return bytes
    }
    let written = 0
    for (const follower of [...this.#followers]) {
      if (++written % SLICE_STREAMS === 0) await nextTurn()
      if (!this.#followers.has(follower) || follower.after >= last.seq) continue
      if (follower.isStalled) {
        this.#dismiss(follower, 'slow')
        continue
      }
      const { after } = follower
      follower.after = last.seq
      const missing = first.seq > after ? encode(follower) : frameMessages(behind(frames, after), follower)
      follower.write(missing)
    }
    return encode({ ids: true }).length
  }

  /**
   * Writes a frame that is not part of the timeline. It has no id, and its seq is the stream's present one: a client resumes
   * after that.
   */
  #pass(frame: StoredFrame): void {
    for (const follower of this.#followers) {
      const { isPublic = false } = follower
      if (!follower.isStalled)
        follower.write(frameMessages([{ ...frame, seq: follower.after }], { ids: false, isPublic }))
    }
  }

  #dismiss(follower: Follower, why: 'ended' | 'slow' | Error): void {
    this.#followers.delete(follower)
    follower.left(why)
  }
}

interface Taken {
  frames: readonly StoredFrame[]
  /** Whether these are the last frames of the run. */
  hasEnded: boolean
}

function taken(timeline: Timeline, frames: readonly StoredFrame[]): Taken {
  const last = frames.at(-1)
  if (last) timeline.after = last.seq
  return { frames, hasEnded: last !== undefined && isEnd(last) }
}

const behind = (frames: readonly StoredFrame[], after: number) => frames.filter(({ seq }) => seq > after)
