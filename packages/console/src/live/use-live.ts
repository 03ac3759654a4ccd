// The stream for components.

import { useEffect, useRef, useSyncExternalStore } from 'react'
import { useSession } from '../session/session.ts'
import { followTopic } from './link.ts'
import type { Topic } from './messages.ts'
import { currentLive, type Follower, type Live, onLive } from './state.ts'

export type { Batch, LiveFrame } from './coalescer.ts'
export type { Counts } from './counts.ts'
export type { Topic } from './messages.ts'

/** Returns the state of the live connection. */
export function useLive(): Live {
  return useSyncExternalStore(onLive, currentLive)
}

export type TopicHandlers = Pick<Follower, 'onBatch' | 'onGap'>

/**
 * Follows a topic while the component is on the screen: batches arrive at most four times a second. Undefined follows nothing.
 */
export function useTopic(topic: Topic | undefined, on: TopicHandlers): void {
  const { status, namespace } = useSession()
  const current = useRef(on)
  current.current = on
  // A page whose session has ended keeps its place: its position counts after the next sign-in.
  const isKnown = status !== 'starting'
  // biome-ignore lint/correctness/useExhaustiveDependencies: another namespace has other streams.
  useEffect(() => {
    if (topic === undefined || !isKnown) return
    return followTopic({
      topic,
      onBatch: batch => current.current.onBatch(batch),
      onGap: openedAt => current.current.onGap(openedAt),
    })
  }, [topic, isKnown, namespace])
}
