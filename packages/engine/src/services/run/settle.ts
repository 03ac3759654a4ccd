// Settles outstanding steps by hand (docs/steps.md#settle-a-step), each with its audit entry in the same commit. Called by the HTTP
// routes.

import { type SettledStep, type StepEnd, settleStep } from '../../domain/arrival/callback/settle-step.ts'
import { EngineError } from '../../domain/model/errors.ts'
import type { Step } from '../../domain/model/step.ts'
import { shownRunId } from '../../domain/text/ids.ts'
import { asStep } from '../../domain/view/running-step.ts'
import type { Actor } from '../commit/audit.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'
import type { RunningSteps } from './running-steps.ts'
import { loadState } from './subject.ts'

export interface SettlementsDeps extends Pick<Core, 'store' | 'catalog' | 'announcer' | 'clock' | 'audit'> {
  runningSteps: Pick<RunningSteps, 'of'>
  /** Gives up the pass in flight of a run whose lease was taken away. */
  giveUp(runId: string): void
}

export interface WantedEnd {
  runId: string
  /** The name of the step, with `:n` for repeats, or its hashed id. */
  step: string
  end: StepEnd
  reason: string
}

export class Settlements {
  readonly #deps: SettlementsDeps

  constructor(deps: SettlementsDeps) {
    this.#deps = deps
  }

  /**
   * Resolves with the step when its end is durable.
   * @throws EngineError `not_found`, `step_not_found`, or `conflict` when the step is settled or the run has ended.
   */
  async settle(actor: Actor, wanted: WantedEnd): Promise<Step> {
    const { store, announcer, giveUp, audit } = this.#deps
    const { runId, step, reason } = wanted
    const detail = JSON.stringify({ step, reason })
    const settled = await decideAndCommit<SettledStep>({
      store,
      decide: () => this.#decide(actor, wanted),
      unit: ({ decision }) => decision,
      commit: unit => audit.commit(actor, unit, { action: 'step.settle', runId, detail }),
      onStale: () => true,
    })
    if (!settled) throw new EngineError('conflict', `Run ${shownRunId(runId)} keeps changing: try again.`)
    // First: the announcement lets the run be claimed again.
    if (settled.isTaken) giveUp(runId)
    announcer.announce(settled.decision.changes)
    return settled.step
  }

  async #decide(actor: Actor, { runId, step, end, reason }: WantedEnd): Promise<SettledStep> {
    const { clock, catalog, runningSteps } = this.#deps
    const state = await loadState(this.#deps, actor, runId)
    const found = (await runningSteps.of([state.run])).get(runId) ?? []
    const running = found.map(one => asStep(one, { runId, stored: undefined }))
    const by = { ...(actor.label === undefined ? {} : { actor: actor.label }), reason }
    return settleStep(state, {
      wanted: step,
      end,
      by,
      running,
      now: clock.now(),
      catalog: catalog.view(actor.namespace),
    })
  }
}
