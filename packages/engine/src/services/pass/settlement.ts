// Makes decisions on a run under way durable and announces them. Called by pass-loop.ts, for the end of a pass and for
// each of its checkpoints.

import type { Decision, Next } from '../../domain/model/decision.ts'
import type { Assumptions } from '../../domain/run/assumptions.ts'
import { RunState } from '../../domain/run/state.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'
import { recordStepSpans } from '../support/spans.ts'
import type { ActiveRun } from './active-run.ts'
import type { LeaseAtCreation } from './lease-at-creation.ts'

/** A decision on a run, and whether another pass follows it at once. */
export interface Decided {
  decision: Decision
  next: Next
}

export interface SettlementDeps extends Core {
  leaseAtCreation(): LeaseAtCreation
  /** Whether this is the run as the driver holds it now, and not one it held under an earlier lease. */
  isCurrent(active: ActiveRun): boolean
  /** The state of the run may have another size now. */
  onSize(active: ActiveRun): void
}

export class Settlement {
  readonly #deps: SettlementDeps

  constructor(deps: SettlementDeps) {
    this.#deps = deps
  }

  /** Commits what `decide` returns; undefined when the run is no longer this engine's. */
  async settle<D extends Decided>(active: ActiveRun, decide: (assumptions: Assumptions) => D): Promise<D | undefined> {
    const { store, limiter, catalog, announcer, leaseAtCreation, onSize } = this.#deps
    const creation = leaseAtCreation()
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
          return decision
        },
        onStale: () => this.reload(active),
      })
      if (!decided) return undefined
      active.state.apply(decided.decision)
      onSize(active)
      this.#trace(active, decided.decision)
      announcer.announce(decided.decision.changes)
      creation.start()
      return decided
    } finally {
      creation.release()
    }
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
