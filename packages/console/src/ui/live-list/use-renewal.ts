// Reads that no frame of the stream carries, renewed while their page is open, soon after runs, events or deliveries have
// changed. Without changes, while paused and in hidden tabs nothing is read; a read that became due then follows afterwards.

import { useEffect, useMemo, useRef } from 'react'
import { currentLive, onLive } from '../../live/state.ts'
import { useTopic } from '../../live/use-live.ts'
import { Renewal } from './renewal.ts'

export interface RenewalOptions {
  /** Delay from a frame to the read. */
  afterMs: number
  /** The topic whose frames count. Default: `runs`. */
  topic?: 'runs' | 'deliveries' | 'events'
  /** Whether frames of events count too. */
  withEvents?: boolean
  /** Reads only while true. Default: true. */
  enabled?: boolean
}

/** `read` reads the page's data again. Returns ways to ask for a read that shares those which are due anyway. */
export function useRenewal(read: () => Promise<unknown>, options: RenewalOptions): Pick<Renewal, 'wake' | 'catchUp'> {
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
    // The end of a pause is also a gap, whose read comes first.
    const stopListening = onLive(() => queueMicrotask(goOn))
    return () => {
      started.stop()
      stopListening()
      document.removeEventListener('visibilitychange', goOn)
    }
  }, [])
  const onBatch = () => renewal.current?.wake(afterMs)
  useTopic(enabled ? topic : undefined, { onBatch, onGap: async openedAt => renewal.current?.catchUp(openedAt) })
  // Both topics arrive on one stream, so a gap of this one is also a gap of runs.
  useTopic(enabled && withEvents ? 'events' : undefined, { onBatch, onGap: async () => {} })
  return useMemo(
    () => ({
      wake: waitMs => renewal.current?.wake(waitMs),
      catchUp: async openedAt => renewal.current?.catchUp(openedAt),
    }),
    [],
  )
}
