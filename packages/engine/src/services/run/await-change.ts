// Waits until an update may have an answer: its run answered it or ended at this engine, or it is time to check whether another
// engine did that. Called by signals.ts.

import type { Clock } from '../../ports/clock.ts'
import { type Live, runKey } from '../live/live.ts'

/** How often updates are read where another engine may answer them. */
const READ_EVERY_MS = 200

export interface AwaitChangeDeps {
  live: Pick<Live, 'answers' | 'ends'>
  clock: Pick<Clock, 'after'>
  /** Maximum callers that wait at this engine; a further caller does not wait. */
  waitersMax: number
  /** Whether other engines use the store. */
  isShared: boolean
}

export interface Waiting {
  /** Resolves with true when it is worth reading again, and with false when the time is up. */
  change(of: { namespace: string; updateId: string; runId: string }): Promise<boolean>
  end(): void
}

export class AwaitChange {
  readonly #deps: AwaitChangeDeps
  #waiting = 0

  constructor(deps: AwaitChangeDeps) {
    this.#deps = deps
  }

  /** Returns undefined if the caller does not wait, or too many wait already. */
  begin(ms: number, signal: AbortSignal): Waiting | undefined {
    if (ms === 0 || signal.aborted || this.#waiting >= this.#deps.waitersMax) return undefined
    this.#waiting++
    const { live, clock, isShared } = this.#deps
    let isOver = false
    let wake = (): void => {}
    const over = () => {
      isOver = true
      wake()
    }
    const cancelTimer = clock.after(ms, over)
    signal.addEventListener('abort', over)
    // A change during the caller's read counts too.
    let listensTo: string | undefined
    let hasChanged = false
    let stopListening = (): void => {}
    const changed = () => {
      hasChanged = true
      wake()
    }
    const listen = ({ namespace, updateId, runId }: { namespace: string; updateId: string; runId: string }) => {
      if (listensTo === runId) return
      stopListening()
      const stops = [live.answers.on(updateId, changed), live.ends.on(runKey(namespace, runId), changed)]
      stopListening = () => {
        for (const stop of stops) stop()
      }
      listensTo = runId
      // The update was read before anybody listened.
      hasChanged = true
    }
    return {
      async change(of) {
        listen(of)
        if (!(hasChanged || isOver)) {
          const cancelRead = isShared ? clock.after(READ_EVERY_MS, changed) : () => {}
          await new Promise<void>(resolve => {
            wake = resolve
          })
          cancelRead()
        }
        hasChanged = false
        return !isOver
      },
      end: () => {
        this.#waiting--
        cancelTimer()
        signal.removeEventListener('abort', over)
        stopListening()
      },
    }
  }
}
