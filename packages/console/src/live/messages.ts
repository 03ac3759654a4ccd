// The messages between a tab and the hub that owns the tokens and the streams.

import type { Batch, Text } from './coalescer.ts'
import type { Counts } from './counts.ts'

/** Topics of a whole namespace. */
export const NAMESPACE_TOPICS = ['runs', 'events', 'deliveries'] as const
/** Topics whose newest state counts: the lists of a namespace, and a bulk job. */
export type ListTopic = (typeof NAMESPACE_TOPICS)[number] | `bulk:${string}`
/** A topic of the stream: newest states, the timeline of one run, or one of its output streams, which is `run:ID:NAME`. */
export type Topic = ListTopic | `run:${string}`

const RUN_TOPIC = 'run:'
const BULK_TOPIC = 'bulk:'

/** Returns the bulk job of the topic; undefined for all other topics. */
export function bulkOf(topic: Topic): string | undefined {
  return topic.startsWith(BULK_TOPIC) ? topic.slice(BULK_TOPIC.length) : undefined
}

/** Returns the run of a timeline, or with the name of an output stream `ID:NAME`; undefined for a list. */
export function runOf(topic: Topic): string | undefined {
  return topic.startsWith(RUN_TOPIC) ? topic.slice(RUN_TOPIC.length) : undefined
}

/** The state of a namespace's stream. */
export type LiveState = 'idle' | 'live' | 'reconnecting' | 'ended'

/** A topic that a tab follows. */
export interface Interest {
  topic: Topic
  /** The last frame of a timeline that the tab has. The hub keeps its own position unless `restarts`. */
  after: number
  restarts?: boolean
}

/** From a tab. A token that is withdrawn is named, so that a newer one of another tab stays. */
export type ToHub =
  | { type: 'token'; namespace: string; token: string | undefined; before: string | undefined }
  | { type: 'ask'; namespace: string }
  | { type: 'topics'; namespace: string; topics: readonly Interest[]; isHidden: boolean; isSignedIn: boolean }
  /** The tab changed something that is counted: the count of errors is read again. */
  | { type: 'recount'; namespace: string }
  | { type: 'bye' }

/** From the hub. The state `ended` names the token that the engine refused: a tab that has signed in again has another one. */
export type ToTab =
  | { type: 'token'; namespace: string; token: string | undefined }
  | { type: 'batch'; namespace: string; topic: ListTopic; batch: Batch }
  | { type: 'timeline'; namespace: string; topic: Topic; texts: readonly Text[] }
  | {
      type: 'state'
      namespace: string
      state: LiveState
      retryAt?: number
      lostAt?: number
      token?: string | undefined
    }
  /** Frames of these topics up to now may be missing: read everything again once that was read earlier. */
  | { type: 'gap'; namespace: string; topics: readonly ListTopic[]; lostAt?: number }
  | { type: 'counts'; namespace: string; counts: Counts }
  /** The hub is new, or checks which tabs are left: announce the topics that you follow. */
  | { type: 'hello' }
