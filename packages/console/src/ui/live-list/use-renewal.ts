// Reads that no frame of the stream carries, renewed while their page is open, soon after runs, events or deliveries have moved. While nothing
// moves, while paused and in hidden tabs nothing is read: a read that was due meanwhile is made when that ends.

import { useEffect, useRef } from 'react'
import { currentLive, onLive } from '../../live/state.ts'
import { useTopic } from '../../live/use-live.ts'
import { Renewal } from './renewal.ts'

export interface RenewalOptions {
  /** From a frame to the read. */
  afterMs: number
  /** Whose frames count. Default: `runs`. */
  topic?: 'runs' | 'deliveries' | 'events'
  /** Events count as well as runs. */
  withEvents?: boolean
  /** Reads only while true. Default: true. */
  enabled?: boolean
}

/** `read` reads again what the page shows. */
export function useRenewal(read: () => Promise<unknown>, options: RenewalOptions): void {
  const { afterMs, topic = 'runs', withEvents = false, enabled = true } = options
  const current = useRef(read)
  current.current = read
  const renewal = useRef<Renewal>(undefined)
  useEffect(() => {
    const mayNotRead = () => document.hidden || currentLive().isPaused
    const started = new Renewal({ read: () => current.current(), mayNotRead })
    renewal.current = started
    const goOn = () => {
      if (!mayNotRead()) started.goOn()
    }
    document.addEventListener('visibilitychange', goOn)
    // The end of a pause is a gap too, whose read comes first.
    const stopListening = onLive(() => queueMicrotask(goOn))
    return () => {
      started.stop()
      stopListening()
      document.removeEventListener('visibilitychange', goOn)
    }
  }, [])
  const onBatch = () => renewal.current?.wake(afterMs)
  useTopic(enabled ? topic : undefined, { onBatch, onGap: async openedAt => renewal.current?.catchUp(openedAt) })
  // Both topics come by one stream, so a gap of this one is a gap of runs too.
  useTopic(enabled && withEvents ? 'events' : undefined, { onBatch, onGap: async () => {} })
}
