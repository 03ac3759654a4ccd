// Reads that no frame of the stream carries, renewed while their page is open, soon after runs or events have moved. While nothing
// moves, while paused and in hidden tabs nothing is read.

import { useCallback, useEffect, useRef } from 'react'
import { currentLive } from '../../live/link.ts'
import { useTopic } from '../../live/use-live.ts'

export interface RenewalOptions {
  /** From a frame to the read. */
  afterMs: number
  /** Events count as well as runs. */
  withEvents?: boolean
}

/** `read` reads again what the page shows. */
export function useRenewal(read: () => Promise<unknown>, options: RenewalOptions): void {
  const { afterMs, withEvents = false } = options
  const current = useRef(read)
  current.current = read
  const underWay = useRef<Promise<unknown>>(undefined)
  // A read that begins beside another one of the same would end that one as cancelled.
  const readOnce = useCallback(() => {
    underWay.current ??= current.current().finally(() => {
      underWay.current = undefined
    })
    return underWay.current
  }, [])
  const plan = useRef<Plan>(undefined)
  useEffect(() => {
    const started = new Plan(readOnce)
    plan.current = started
    const onVisible = () => started.onVisible()
    document.addEventListener('visibilitychange', onVisible)
    return () => {
      started.stop()
      document.removeEventListener('visibilitychange', onVisible)
    }
  }, [readOnce])
  const onBatch = () => plan.current?.wake(afterMs)
  useTopic('runs', { onBatch, onGap: async () => void (await readOnce()) })
  // Both topics come by one stream, so a gap of this one is a gap of runs too.
  useTopic(withEvents ? 'events' : undefined, { onBatch, onGap: async () => {} })
}

/** When the next read is due. */
class Plan {
  readonly #read: () => Promise<unknown>
  #timer: ReturnType<typeof setTimeout> | undefined
  #dueAt = Number.POSITIVE_INFINITY
  /** A read was due while the tab was hidden. */
  #isMissed = false

  constructor(read: () => Promise<unknown>) {
    this.#read = read
  }

  /** Reads after this time, or earlier if that is planned. */
  wake(waitMs: number): void {
    const at = performance.now() + waitMs
    if (at >= this.#dueAt) return
    this.stop()
    this.#dueAt = at
    this.#timer = setTimeout(() => this.#due(), waitMs)
  }

  onVisible(): void {
    if (!document.hidden && this.#isMissed) this.#due()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#dueAt = Number.POSITIVE_INFINITY
  }

  #due(): void {
    this.stop()
    this.#isMissed = document.hidden
    if (!document.hidden && !currentLive().isPaused) void this.#read().catch(() => {})
  }
}
