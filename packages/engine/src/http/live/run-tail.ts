// The new frames of one run, for its stream: frames that directly follow the sent ones, or the notice that the stream must read
// the store. Used by routes/run/run-stream.ts.

import { isTerminal } from '../../domain/model/run.ts'
import type { StoredFrame } from '../../domain/view/timeline-frames.ts'
import type { Clock } from '../../ports/clock.ts'
import { wait } from './broadcast.ts'

/** Maximum frames that wait for a slow client; beyond this the stream reads the store. */
const FRAMES_MAX = 1000

export class RunTail {
  #frames: StoredFrame[] = []
  #mustRead = false
  /** Something happened since the last wait. */
  #isAwake = false
  #wake: (() => void) | undefined

  /** Takes a commit of the run: these frames, in order of seq, or whatever the store has. */
  notify(frames: readonly StoredFrame[] | undefined): void {
    if (frames === undefined || this.#frames.length + frames.length > FRAMES_MAX) {
      this.#mustRead = true
      this.#frames = []
    } else if (!this.#mustRead) this.#frames.push(...frames)
    this.endWait()
  }

  /** Ends the wait of `next`, or makes the next one return at once. */
  endWait(): void {
    this.#isAwake = true
    this.#wake?.()
  }

  /**
   * Waits up to `ms` for frames after seq `after`. Returns them if none is missing: each has the next number. Returns undefined
   * if the stream must read the store: no frame arrived in time, or one is missing.
   */
  async next(after: number, clock: Clock, ms: number): Promise<StoredFrame[] | undefined> {
    await this.#wait(clock, ms)
    const frames = this.#frames
    this.#frames = []
    if (this.#mustRead || frames.length === 0) {
      this.#mustRead = false
      return undefined
    }
    const fresh = frames.filter(frame => frame.seq > after)
    // A client may start after a seq that the run never reaches; the store knows that the run has ended.
    if (fresh.length === 0 && frames.some(isEnd)) return undefined
    return fresh.every((frame, i) => frame.seq === after + 1 + i) ? fresh : undefined
  }

  async #wait(clock: Clock, ms: number): Promise<void> {
    if (!this.#isAwake) {
      await wait(clock, ms, wake => {
        this.#wake = wake
      })
      this.#wake = undefined
    }
    this.#isAwake = false
  }
}

/** Whether the frame is the last one of its run. */
export function isEnd(frame: StoredFrame): boolean {
  return frame.kind === 'run_status' && isTerminal(frame.status)
}
