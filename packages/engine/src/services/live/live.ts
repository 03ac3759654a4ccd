// Publishes the commits of this process to its open streams. Best effort and in memory: a stream that must not miss anything
// treats a notification as "read again", and reads the rest from the store.

import { TransientMap } from '../../base/transient-map.ts'
import type { Delivery } from '../../domain/model/delivery.ts'
import type { Event } from '../../domain/model/event.ts'
import type { Run, RunProgress } from '../../domain/model/run.ts'
import type { StreamRow } from '../../domain/model/stream/stream.ts'
import type { RunUpdate } from '../../domain/view/run-updates.ts'
import type { DerivedFrame, MoveError, StoredFrame } from '../../domain/view/timeline-frames.ts'
import type { RunStatusNow } from '../../ports/store-reads.ts'

/** A new status of a run, with the error if the run failed. */
export type RunMove = RunStatusNow & { runId: string; error?: MoveError; currentStepName?: string }

/** The parts of a run that show a caller how the run ended. */
export type RunEnd = Pick<Run, 'id' | 'status' | 'result' | 'error' | 'continuedAs'>

/** The key of a run among those of all namespaces. */
export function runKey(namespace: string, runId: string): string {
  return `${namespace}\n${runId}`
}

/** The key of an output stream among those of all runs. */
export function streamKey(runId: string, name: string): string {
  return `${runId}\n${name}`
}

/** A newer progress of a run. */
export type ProgressMove = RunProgress & { runId: string; workflow: string; app: string }

export class Live {
  /** By run id: a part of the run was committed, either these frames or (undefined) whatever the store has. */
  readonly runs = new Topic<readonly StoredFrame[] | undefined>()
  /** By namespace: the status changes of all its runs. */
  readonly moves = new Topic<RunMove>()
  /**
   * By run id: the step that its runner reported as running. It is no frame of the timeline: it has the seq of the previous
   * frame.
   */
  readonly running = new Topic<DerivedFrame>()
  /** By namespace: the recorded events. */
  readonly events = new Topic<Event>()
  /** By namespace: the state of each run after a commit, for lists of runs. */
  readonly updates = new Topic<RunUpdate>()
  /** By namespace: the newest progress of each run. */
  readonly progress = new Topic<ProgressMove>()
  /** By namespace: each new or changed delivery. */
  readonly deliveries = new Topic<Delivery>()
  /** By `runKey`: the end of a run, for callers that wait for it. Not shared with other engines. */
  readonly ends = new Topic<RunEnd>()
  /** By id of an update: its run has answered it. Not shared with other engines. */
  readonly answers = new Topic<undefined>()
  /** By `streamKey`: rows were appended to an output stream, either these or (undefined) whatever the store has. */
  readonly streams = new Topic<readonly StreamRow[] | undefined>()
  /** By id of a bulk job: a change of the job was committed. */
  readonly bulks = new Topic<undefined>()
  readonly #gapListeners = new Set<() => void>()
  /** Open streams of several topics; they are not counted as listeners of namespaces. */
  topicStreams = 0

  /** Calls `listener` whenever messages of other engines may have been lost. */
  onGap(listener: () => void): void {
    this.#gapListeners.add(listener)
  }

  /** Reports that messages of other engines may have been lost until now. */
  gap(): void {
    for (const listener of this.#gapListeners) listener()
  }
}

/** The listeners that other engines have. */
export interface PeerListeners<T> {
  has(key: string): boolean
  publish(key: string, message: T): void
  /** Called when the key gets its first listener on this engine. */
  listened(key: string): void
}

/** Listeners by key. */
export class Topic<T> {
  /** Each listener with the number of streams that it serves. */
  readonly #listeners = new TransientMap<string, Map<(message: T) => void, () => number>>()
  /** Absent where this engine is alone. */
  peers: PeerListeners<T> | undefined

  /**
   * Calls `listener` with everything published under the key, until the returned function is called. `streams` returns how many
   * streams it serves.
   */
  on(key: string, listener: (message: T) => void, streams = () => 1): () => void {
    let listeners = this.#listeners.get(key)
    if (!listeners) {
      listeners = new Map()
      this.#listeners.set(key, listeners)
      this.peers?.listened(key)
    }
    listeners.set(listener, streams)
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#listeners.get(key) === listeners) this.#listeners.delete(key)
    }
  }

  publish(key: string, message: T): void {
    this.publishHere(key, message)
    if (this.peers?.has(key)) this.peers.publish(key, message)
  }

  /** Publishes only to the listeners of this engine. */
  publishHere(key: string, message: T): void {
    const listeners = this.#listeners.get(key)
    if (listeners) for (const listener of listeners.keys()) listener(message)
  }

  /** Whether the key has a listener, on this engine or another. */
  has(key: string): boolean {
    return this.#listeners.has(key) || this.peers?.has(key) === true
  }

  /** The keys that have a listener on this engine. */
  get keys(): IterableIterator<string> {
    return this.#listeners.keys()
  }

  /** The number of streams that the listeners of this engine serve, over all keys. */
  get size(): number {
    let size = 0
    for (const listeners of this.#listeners.values()) for (const streams of listeners.values()) size += streams()
    return size
  }
}
