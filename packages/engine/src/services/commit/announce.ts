// Runs after every commit: wakes the lanes that wait for its changes, and publishes the changes to open streams. All of this
// may be lost or repeated without harm: lanes and the streams of single runs read the store from time to time, and the streams
// of a namespace are best effort (docs/concepts.md#timeline-and-streams).

import type { CatalogChange, Change, QuietChange } from '../../domain/model/change.ts'
import { isTerminal, type Run } from '../../domain/model/run.ts'
import type { StepWoken } from '../../domain/model/step.ts'
import type { RunState } from '../../domain/run/state.ts'
import {
  type DerivedFrame,
  derivedFrames,
  moveError,
  runFrame,
  statusFrames,
} from '../../domain/view/timeline-frames.ts'
import { type Metrics, NO_METRICS } from '../../ports/metrics.ts'
import type { Queue } from '../../ports/queue.ts'
import type { Store } from '../../ports/store.ts'
import { type Live, runKey, streamKey } from '../live/live.ts'
import { UpdatePublisher } from '../live/update-publisher.ts'
import { countChange } from './commit-metrics.ts'

/** Frames of woken runs that are read at once: an event may wake thousands of runs, and that many reads would cost too much. */
export const WOKEN_READS_MAX = 100

interface AnnouncerDeps {
  queue: Queue
  live: Live
  store: Pick<Store, 'in'>
  metrics: Metrics
}

export class Announcer {
  readonly #deps: AnnouncerDeps
  /** Woken runs whose frame is being read. A run is removed when a later change of it is published. */
  readonly #woken = new Set<string>()
  readonly #updates: UpdatePublisher
  #interrupt: (runId: string) => void = () => {}

  constructor(deps: Omit<AnnouncerDeps, 'metrics'> & Partial<AnnouncerDeps>) {
    this.#deps = { metrics: NO_METRICS, ...deps }
    this.#updates = new UpdatePublisher(this.#deps.live)
  }

  /**
   * Sets the function that aborts the invoke of a run that an outsider changed. The function belongs to the driver, which is
   * made after the announcer.
   */
  onInterrupt(interrupt: (runId: string) => void): void {
    this.#interrupt = interrupt
  }

  /** `of`: the namespace, for changes that contain no event or run with it. */
  announce(changes: readonly Change[], of?: string): void {
    // `step.woken` does not contain the namespace: it comes with the event, or the end of the child, that caused it.
    const namespace = of ?? firstNamespace(changes)
    for (const change of changes) {
      countChange(change, this.#deps.metrics)
      this.#notify(change, namespace)
    }
    this.#publishRuns(changes)
    this.#updates.publish(changes, namespace)
  }

  /** Publishes to open streams that a runner reported a running step. Nothing is stored. */
  stepsRun({ run, lastStepSeq }: RunState, name: string | undefined, ts: number): void {
    if (name === undefined || run.status !== 'running') return
    const { moves, running } = this.#deps.live
    const { id: runId, namespace, workflow, app, status, attempt } = run
    const now = { seq: lastStepSeq, ts, name }
    this.#updates.stepRuns(run, now)
    const frame = { seq: now.seq, ts, status, attempt }
    if (moves.has(namespace)) moves.publish(namespace, { runId, workflow, app, ...frame, currentStepName: name })
    if (running.has(runId)) running.publish(runId, { ...runFrame(runId, frame), currentStepName: name } as DerivedFrame)
  }

  #publishRuns(changes: readonly Change[]): void {
    let published: string | undefined
    for (const change of changes) {
      const runId = runIdOf(change)
      // Nearly every unit is about one run.
      if (runId === undefined || runId === published) continue
      published = runId
      if (!this.#deps.live.runs.has(runId)) continue
      // A unit may wake or create thousands of runs: searching all its changes for the frames of each would take too long.
      const mustBeRead = change.type === 'step.woken' || change.type === 'run.created'
      this.#deps.live.runs.publish(runId, mustBeRead ? undefined : derivedFrames(changes, runId))
    }
  }

  #notify(change: Change, namespace: string | undefined): void {
    switch (change.type) {
      case 'run.created':
      case 'run.moved':
        this.#publishMoves(change)
        this.#publishEnd(change.run)
        if (change.run.leaseOwner === undefined) this.#wakeRuns(change.run.availableAt)
        if (change.type === 'run.moved' && change.interrupts) this.#interrupt(change.run.id)
        break
      case 'step.woken':
        this.#wakeRuns(change.at)
        if (namespace !== undefined) void this.#publishWoken(change, namespace)
        break
      case 'event.recorded':
        this.#deps.live.events.publish(change.event.namespace, change.event)
        break
      case 'update.answered':
        this.#deps.live.answers.publishHere(change.updateId, undefined)
        break
      case 'run.progressed':
        this.#publishProgress(change)
        break
      case 'stream.written':
        this.#publishRows(change)
        break
      case 'run.cancelRequested':
        this.#interrupt(change.runId)
        this.#wakeRuns(change.at)
        break
      case 'app.runnerArrived':
      case 'waits.due':
      case 'workflow.resumed':
      case 'workflow.limited':
      case 'workflow.throttled':
      case 'slots.freed':
      case 'startQueue.woken':
        this.#wakeRuns(change.at)
        break
      case 'turns.granted':
        // The store knows when the next turn is free: the lane reads it.
        this.#deps.queue.wake('timers', change.at)
        this.#wakeRuns(change.at)
        break
      case 'limits.registered':
        this.#deps.queue.wake('timers', change.at)
        break
      case 'bulkResult.recorded':
        this.#deps.live.bulks.publish(change.result.bulkId, undefined)
        break
      case 'flow.saved':
        if (change.row.policy === 'bulk') this.#deps.live.bulks.publish(change.row.key, undefined)
        if (change.row.availableAt !== undefined) this.#deps.queue.wake('timers', change.row.availableAt)
        break
      case 'delivery.created':
      case 'delivery.moved':
        this.#deps.live.deliveries.publish(change.delivery.namespace, change.delivery)
        if (change.delivery.availableAt !== undefined) this.#deps.queue.wake('deliveries', change.delivery.availableAt)
        break
      default:
        // Fails to compile for a new change until it has a case above or is quiet.
        change satisfies CatalogChange | QuietChange
    }
  }

  #publishMoves(change: Extract<Change, { type: 'run.created' | 'run.moved' }>): void {
    const { id: runId, namespace, workflow, app } = change.run
    this.#woken.delete(runId)
    if (!this.#deps.live.moves.has(namespace)) return
    for (const frame of statusFrames(change)) {
      const error = moveError(frame)
      this.#deps.live.moves.publish(namespace, { runId, workflow, app, ...frame, ...(error && { error }) })
    }
  }

  #publishEnd(run: Run): void {
    if (isTerminal(run.status)) this.#deps.live.ends.publishHere(runKey(run.namespace, run.id), run)
  }

  #publishProgress({ run, progress }: Extract<Change, { type: 'run.progressed' }>): void {
    const { id: runId, namespace, workflow, app } = run
    if (this.#deps.live.progress.has(namespace))
      this.#deps.live.progress.publish(namespace, { runId, workflow, app, ...progress })
  }

  #publishRows({ head: { runId, name }, rows }: Extract<Change, { type: 'stream.written' }>): void {
    if (rows.length > 0) this.#deps.live.streams.publish(streamKey(runId, name), rows)
  }

  /** Reads whether the wake made its run queued, which the store decides. Publishes nothing if the run has changed since. */
  async #publishWoken({ runId, at }: StepWoken, namespace: string): Promise<void> {
    const { moves, updates } = this.#deps.live
    if (!(moves.has(namespace) || updates.has(namespace)) || this.#woken.size >= WOKEN_READS_MAX) return
    this.#woken.add(runId)
    // A frame that cannot be read is lost, which is allowed for every frame here.
    const frame = await this.#deps.store
      .in(namespace)
      .status(runId)
      .catch(() => undefined)
    if (!this.#woken.delete(runId)) return
    if (frame?.status !== 'queued' || frame.ts !== at) return
    moves.publish(namespace, { runId, ...frame })
    updates.publish(namespace, { runId, ...frame })
  }

  #wakeRuns(at: number | undefined): void {
    if (at !== undefined) this.#deps.queue.wake('runs', at)
  }
}

/** The run whose timeline has the change. */
function runIdOf(change: Change): string | undefined {
  if ('run' in change) return change.run.id
  if ('step' in change) return change.step.runId
  if ('line' in change) return change.line.runId
  return change.type === 'step.woken' ? change.runId : undefined
}

function firstNamespace(changes: readonly Change[]): string | undefined {
  for (const change of changes) {
    if (change.type === 'event.recorded') return change.event.namespace
    if (change.type === 'run.moved' || change.type === 'run.created' || change.type === 'run.progressed')
      return change.run.namespace
  }
  return undefined
}
