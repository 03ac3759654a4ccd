// The stream for components.

import { useEffect, useRef, useSyncExternalStore } from 'react'
import { useSession } from '../session/session.ts'
import type { Batch } from './coalescer.ts'
import { currentLive, followTopic, type Live, onLive } from './link.ts'
import type { Topic } from './messages.ts'

export type { Batch, LiveFrame } from './coalescer.ts'
export type { Topic } from './messages.ts'

/** The state of the live connection. */
export function useLive(): Live {
  return useSyncExternalStore(onLive, currentLive)
}

/** Follows a topic while the component is on the screen: batches at most four times a second. Undefined follows nothing. */
export function useTopic(topic: Topic | undefined, on: { onBatch(batch: Batch): void; onGap(): void }): void {
  const { status, namespace } = useSession()
  const current = useRef(on)
  current.current = on
  const isReady = status === 'ready' || status === 'unreachable'
  // biome-ignore lint/correctness/useExhaustiveDependencies: another namespace has other streams.
  useEffect(() => {
    if (topic === undefined || !isReady) return
    return followTopic({
      topic,
      onBatch: batch => current.current.onBatch(batch),
      onGap: () => current.current.onGap(),
    })
  }, [topic, isReady, namespace])
}
