// The fourth beat: after a commit, ring whoever waits for what it changed and tell those who follow a namespace.
// Everything here may be lost or repeated without harm: lanes and the streams of single runs look into the store by
// themselves from time to time, and the streams of a namespace promise no more (contract §6).

import type { Change, StepWoken } from '../../domain/model/change.ts'
import { statusFrames } from '../../domain/view/status-frames.ts'
import { derivedFrames } from '../../domain/view/timeline-frames.ts'
import { type Metrics, NO_METRICS } from '../../ports/metrics.ts'
import type { Queue } from '../../ports/queue.ts'
import type { Store } from '../../ports/store.ts'
import type { Live } from '../live/live.ts'
import { countChange } from './commit-metrics.ts'

/** Wakes asked about at once: an event may wake thousands of runs, whose frames are not worth a flood of reads. */
export const WAKES_ASKED_MAX = 100

/** Told when an outsider changed a run that may be under way here: its pass should be looked at again. */
export type Interrupt = (runId: string) => void

export class Announcer {
  readonly #queue: Queue
  readonly #live: Live
  readonly #store: Pick<Store, 'in'>
  readonly #metrics: Metrics
  /** Runs whose wake is being asked about, and of which nothing was told since. */
  readonly #woken = new Set<string>()
  #interrupt: Interrupt = () => {}

  constructor(options: { queue: Queue; live: Live; store: Pick<Store, 'in'>; metrics?: Metrics }) {
    this.#metrics = options.metrics ?? NO_METRICS
    this.#store = options.store
    this.#queue = options.queue
    this.#live = options.live
  }

  /** The driver, once it exists: it aborts the pass of a run that somebody else ended. */
  onInterrupt(interrupt: Interrupt): void {
    this.#interrupt = interrupt
  }

  announce(changes: readonly Change[]): void {
    // A wake does not say whose run it wakes; it comes with the event, or the end of the child, that caused it.
    const namespace = firstNamespace(changes)
    for (const change of changes) {
      countChange(change, this.#metrics)
      this.#ring(change, namespace)
    }
    this.#tellRuns(changes)
  }

  #tellRuns(changes: readonly Change[]): void {
    let told: string | undefined
    for (const change of changes) {
      const runId = runOf(change)
      // Nearly every unit is about one run.
      if (runId === undefined || runId === told) continue
      told = runId
      if (!this.#live.runs.has(runId)) continue
      // One of thousands, it may be: what only the store knows is not looked for in all the others.
      const isUntold = change.type === 'step.woken' || change.type === 'run.created'
      this.#live.runs.tell(runId, isUntold ? undefined : derivedFrames(changes, runId))
    }
  }

  #ring(change: Change, namespace: string | undefined): void {
    switch (change.type) {
      case 'run.created':
      case 'run.moved':
        this.#tellMoves(change)
        if (change.run.leaseOwner === undefined) this.#wakeRuns(change.run.availableAt)
        if (change.type === 'run.moved' && change.interrupts) this.#interrupt(change.run.id)
        break
      case 'step.woken':
        this.#wakeRuns(change.at)
        if (namespace !== undefined) void this.#tellWoken(change, namespace)
        break
      case 'event.recorded':
        this.#live.events.tell(change.event.namespace, change.event)
        break
      case 'run.cancelRequested':
        this.#interrupt(change.runId)
        this.#wakeRuns(change.at)
        break
      case 'app.runnerArrived':
      case 'slots.freed':
      case 'startQueue.woken':
        this.#wakeRuns(change.at)
        break
      case 'flow.saved':
        if (change.row.availableAt !== undefined) this.#queue.wake('timers', change.row.availableAt)
        break
      case 'delivery.created':
      case 'delivery.moved':
        if (change.delivery.availableAt !== undefined)
          this.#queue.wake('deliveries', change.delivery.availableAt)
        break
    }
  }

  #tellMoves(change: Extract<Change, { type: 'run.created' | 'run.moved' }>): void {
    const { id: runId, namespace } = change.run
    this.#woken.delete(runId)
    if (!this.#live.moves.has(namespace)) return
    for (const frame of statusFrames(change)) this.#live.moves.tell(namespace, { runId, ...frame })
  }

  /** Whether a wake made its run queued is decided in the store, so that is asked; unless the run moves on meanwhile. */
  async #tellWoken({ runId, at }: StepWoken, namespace: string): Promise<void> {
    if (!this.#live.moves.has(namespace) || this.#woken.size >= WAKES_ASKED_MAX) return
    this.#woken.add(runId)
    // A frame that cannot be read is one of those that may be missed.
    const frame = await this.#store
      .in(namespace)
      .status(runId)
      .catch(() => undefined)
    if (!this.#woken.delete(runId)) return
    if (frame?.status === 'queued' && frame.ts === at) this.#live.moves.tell(namespace, { runId, ...frame })
  }

  #wakeRuns(at: number | undefined): void {
    if (at !== undefined) this.#queue.wake('runs', at)
  }
}

/** The run whose timeline the change goes on with. */
function runOf(change: Change): string | undefined {
  switch (change.type) {
    case 'run.created':
    case 'run.moved':
      return change.run.id
    case 'step.recorded':
    case 'step.moved':
      return change.step.runId
    case 'log.written':
      return change.line.runId
    case 'step.woken':
      return change.runId
    default:
      return undefined
  }
}

function firstNamespace(changes: readonly Change[]): string | undefined {
  for (const change of changes) {
    if (change.type === 'event.recorded') return change.event.namespace
    if (change.type === 'run.moved' || change.type === 'run.created') return change.run.namespace
  }
  return undefined
}
