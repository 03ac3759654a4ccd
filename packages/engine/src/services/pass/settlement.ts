// Makes decisions on a run under way durable and announces them. Called by pass-loop.ts, for the end of a pass and for
// each of its checkpoints.

import type { Decision, PassDecision } from '../../domain/model/decision.ts'
import { StaleError } from '../../domain/model/errors.ts'
import type { Assumptions } from '../../domain/run/assumptions.ts'
import { RunState } from '../../domain/run/state.ts'
import { followDecision, withdrawLost } from '../../domain/streams/follow.ts'
import type { StreamsDraft } from '../../domain/streams/streams-draft.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'
import { recordStepSpans } from '../support/spans.ts'
import type { ActiveRun } from './active-run.ts'
import type { LeaseAtCreation } from './lease-at-creation.ts'
import { loadStreams } from './streams/stream-appends.ts'
import type { StreamMerges } from './streams/stream-merges.ts'

export interface SettlementDeps extends Core {
  leaseAtCreation(): LeaseAtCreation
  /** Whether the driver still has the run under this lease. */
  isCurrent(active: ActiveRun): boolean
  merges: Pick<StreamMerges, 'add'>
  /** The state of the run may have another size now. */
  onSize(active: ActiveRun): void
}

export class Settlement {
  readonly #deps: SettlementDeps

  constructor(deps: SettlementDeps) {
    this.#deps = deps
  }

  /**
   * Commits the result of `decide`, and its consequences for the open chunks of the run's streams; undefined when the run no
   * longer belongs to this engine. `ending`: the commit ends the pass (domain/streams/follow).
   */
  async settle<D extends PassDecision>(
    active: ActiveRun,
    decide: (assumptions: Assumptions) => D,
    ending?: { isLost: boolean },
  ): Promise<D | undefined> {
    const { store, limiter, catalog, announcer, clock, leaseAtCreation, onSize } = this.#deps
    const creation = leaseAtCreation()
    let streams: StreamsDraft | undefined
    try {
      const decided = await decideAndCommit<D>({
        store,
        namespace: active.state.run.namespace,
        limiter,
        catalog,
        decide,
        questions: ({ decision }) => decision.questions,
        unit: ({ decision }) => {
          creation.lease(decision.changes)
          if (!active.streams) return decision
          streams = followDecision(active.streams, decision, { now: clock.now(), ending })
          return streams ? { ...decision, changes: [...decision.changes, ...streams.changes] } : decision
        },
        onStale: () => this.reload(active),
      })
      if (!decided) return undefined
      active.state.apply(decided.decision)
      onSize(active)
      this.#trace(active, decided.decision)
      announcer.announce(decided.decision.changes)
      if (streams) this.#apply(active, streams)
      creation.start()
      return decided
    } finally {
      creation.release()
    }
  }

  /** Withdraws the chunks of a pass that was lost with its engine, or aborted. */
  async withdrawLost(active: ActiveRun): Promise<void> {
    const { store, owner, clock } = this.#deps
    const { id: runId } = active.state.run
    const draft = withdrawLost(await loadStreams(store, active), active.state, clock.now())
    if (!draft) return
    try {
      await store.commit({ guards: [{ type: 'leased', runId, owner }], changes: draft.changes })
    } catch (error) {
      active.streams = undefined
      // The next commit of the run finds out that the lease is lost.
      if (error instanceof StaleError) return
      throw error
    }
    this.#apply(active, draft)
  }

  #apply(active: ActiveRun, draft: StreamsDraft): void {
    const { announcer, merges } = this.#deps
    announcer.announce(draft.changes)
    for (const { name, first } of draft.closed) merges.add(active.state.run.id, name, first)
    active.streams = draft.streams
  }

  /** Loads the run again after a lost race. False when it has ended or its lease is no longer this engine's. */
  async reload(active: ActiveRun): Promise<boolean> {
    const { store, owner, isCurrent, onSize } = this.#deps
    const loaded = await store.loadRun(active.state.run.id)
    if (loaded?.run.leaseOwner !== owner || !isCurrent(active)) return false
    active.state = RunState.loaded(loaded)
    onSize(active)
    return true
  }

  #trace({ span, passTrace }: ActiveRun, { steps }: Decision): void {
    const { tracing, clock } = this.#deps
    const parent = passTrace ?? span?.traceparent
    if (tracing && parent) recordStepSpans(tracing, steps, { parent, now: clock.now() })
  }
}
