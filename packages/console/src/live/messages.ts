// The messages between a tab and the worker that owns the key and the streams.

import type { Batch } from './coalescer.ts'

/** A stream: all runs, all events, or one run's timeline. */
export type Topic = 'runs' | 'events' | `run:${string}`

/** How a namespace's streams are. */
export type LiveState = 'idle' | 'live' | 'reconnecting' | 'ended'

/** From a tab. */
export type ToWorker =
  | { type: 'token'; namespace: string; token: string | undefined }
  | { type: 'ask'; namespace: string }
  | { type: 'topics'; namespace: string; topics: readonly Topic[]; isHidden: boolean }
  | { type: 'bye' }

/** From the worker. */
export type ToTab =
  | { type: 'token'; namespace: string; token: string | undefined }
  | { type: 'batch'; namespace: string; topic: Topic; batch: Batch }
  | { type: 'state'; namespace: string; state: LiveState; retryAt?: number }
  /** A stream was interrupted: lists are to be read again, once. */
  | { type: 'gap'; namespace: string; topic: Topic }
