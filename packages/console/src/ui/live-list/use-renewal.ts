// Reads that no frame of the stream carries, renewed while their page is open: soon after runs or events have moved, and once in a
// while without, because a silent runner or a late schedule moves nothing. While paused and in hidden tabs nothing is read.

import { useEffect, useRef } from 'react'
import { currentLive } from '../../live/link.ts'
import { useTopic } from '../../live/use-live.ts'

export interface RenewalOptions {
  /** From a frame to the read. */
  afterMs: number
  /** The longest time without a read. */
  idleMs?: number
  /** Events count as well as runs. */
  withEvents?: boolean
}

const IDLE_MS = 60_000

/** `read` reads again what the page shows. */
export function useRenewal(read: () => Promise<unknown>, options: RenewalOptions): void {
  const { afterMs, idleMs = IDLE_MS, withEvents = false } = options
  const current = useRef(read)
  current.current = read
  const plan = useRef<Plan>(undefined)
  useEffect(() => {
    const started = new Plan(() => current.current(), idleMs)
    plan.current = started
    const onVisible = () => started.onVisible()
    document.addEventListener('visibilitychange', onVisible)
    return () => {
      started.stop()
      document.removeEventListener('visibilitychange', onVisible)
    }
  }, [idleMs])
  const on = { onBatch: () => plan.current?.wake(afterMs), onGap: async () => void (await current.current()) }
  useTopic('runs', on)
  useTopic(withEvents ? 'events' : undefined, on)
}

/** When the next read is due. */
class Plan {
  readonly #read: () => Promise<unknown>
  readonly #idleMs: number
  #timer: ReturnType<typeof setTimeout> | undefined
  #dueAt = Number.POSITIVE_INFINITY
  /** A read was due while the tab was hidden. */
  #isMissed = false

  constructor(read: () => Promise<unknown>, idleMs: number) {
    this.#read = read
    this.#idleMs = idleMs
    this.wake(idleMs)
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
    this.wake(this.#idleMs)
    this.#isMissed = document.hidden
    if (!document.hidden && !currentLive().isPaused) void this.#read()
  }
}
