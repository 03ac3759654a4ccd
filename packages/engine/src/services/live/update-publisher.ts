// Publishes how each commit changes the lists of runs. It remembers the running runs of followed namespaces, because a pass
// under way commits steps without their run. Used by services/commit/announce.

import type { Change } from '../../domain/model/change.ts'
import { isTerminal, type Run } from '../../domain/model/run.ts'
import { type RunUpdate, runningUpdate, runUpdates } from '../../domain/view/run-updates.ts'
import type { Live } from './live.ts'

/** Maximum running runs that are remembered. Steps of other runs appear with the next status of their run. */
const RUNNING_MAX = 10_000

export class UpdatePublisher {
  readonly #live: Pick<Live, 'updates'>
  /** The last update of running runs, by run id. */
  readonly #running = new Map<string, { namespace: string; update: RunUpdate }>()

  constructor(live: Pick<Live, 'updates'>) {
    this.#live = live
  }

  /** `namespace` is undefined if no change of the unit names it. */
  publish(changes: readonly Change[], namespace: string | undefined): void {
    const isFollowed = namespace !== undefined && this.#live.updates.has(namespace)
    if (!isFollowed && this.#running.size === 0) return
    for (const update of runUpdates(changes, runId => this.#running.get(runId)?.update)) {
      const of = namespace ?? this.#running.get(update.runId)?.namespace
      if (of !== undefined) this.#publish(of, update)
    }
  }

  /** Publishes that a step of the run has been running for a long time. Nothing about it is stored. */
  stepRuns(run: Run, step: { seq: number; ts: number; name: string }): void {
    if (this.#live.updates.has(run.namespace)) this.#publish(run.namespace, runningUpdate(run, step))
  }

  #publish(namespace: string, update: RunUpdate): void {
    const isFollowed = this.#live.updates.has(namespace)
    const step = this.#running.get(update.runId)?.update.currentStepName
    // The last update of an interval replaces the earlier ones, so it repeats the step that one of these named.
    if (step !== undefined && !isTerminal(update.status)) update.currentStepName ??= step
    if (isFollowed && update.status === 'running') this.#remember(namespace, update)
    else this.#running.delete(update.runId)
    if (isFollowed) this.#live.updates.publish(namespace, update)
  }

  #remember(namespace: string, update: RunUpdate): void {
    if (this.#running.size < RUNNING_MAX || this.#running.has(update.runId))
      this.#running.set(update.runId, { namespace, update })
  }
}
