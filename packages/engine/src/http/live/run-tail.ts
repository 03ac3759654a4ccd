// What the stream of one run is told while it reads or waits: frames that follow on the ones it has sent, or that it
// must look into the store. Used by routes/run-stream.

import { isTerminal } from '../../domain/model/run.ts'
import type { StoredFrame } from '../../domain/view/timeline-frames.ts'
import type { Clock } from '../../ports/clock.ts'
import { Bell } from './bell.ts'

/** Frames that wait for a slow client; with more of them the store is read instead. */
const FRAMES_MAX = 1000

export class RunTail {
  readonly #bell = new Bell()
  #frames: StoredFrame[] = []
  #mustRead = false

  /** Something of the run was committed: these frames, in order of seq, or whatever the store has. */
  tell(frames: readonly StoredFrame[] | undefined): void {
    if (frames === undefined || this.#frames.length + frames.length > FRAMES_MAX) {
      this.#mustRead = true
      this.#frames = []
    } else if (!this.#mustRead) this.#frames.push(...frames)
    this.#bell.ring()
  }

  /** Ends a wait. */
  ring(): void {
    this.#bell.ring()
  }

  /**
   * The frames behind seq `after` that were told since, none of them missing; waits for them until `until`. Undefined when
   * the store must be read: nothing was told in time, or not all. Nothing is missing between a seq and the next number.
   */
  async next(after: number, clock: Clock, until: number): Promise<StoredFrame[] | undefined> {
    await this.#bell.wait(clock, until)
    const told = this.#frames
    this.#frames = []
    if (this.#mustRead || told.length === 0) {
      this.#mustRead = false
      return undefined
    }
    const fresh = told.filter(frame => frame.seq > after)
    // A client may ask to start after a seq that the run will never reach: the store tells it of the end.
    if (fresh.length === 0 && told.some(isEnd)) return undefined
    return fresh.every((frame, i) => frame.seq === after + 1 + i) ? fresh : undefined
  }
}

/** Whether it is the last frame of its run. */
export function isEnd(frame: StoredFrame): boolean {
  return frame.kind === 'run_status' && isTerminal(frame.status)
}
