// Lets the pass of a run that was ended from outside answer for some seconds, and stores the steps that it carried out
// (docs/wire-protocol.md#late-answers). Used by driver.ts, pass-loop.ts and checkpoint.ts.

import type { Step } from '../../domain/model/step.ts'
import { type LateReport, storeLate } from '../../domain/pass/cleanup/late.ts'
import type { PassContext } from '../../domain/pass/opcodes/context.ts'
import { LATE_ANSWER_MS } from '../../domain/run/cleanup/late-window.ts'
import { endUnderWay } from '../../domain/run/control.ts'
import { cleanupRunId } from '../../domain/run/create.ts'
import { type LoadedRun, RunState } from '../../domain/run/state.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'
import type { ActiveRun } from './active-run.ts'

export type LateAnswersDeps = Pick<Core, 'store' | 'clock' | 'catalog' | 'announcer' | 'log'>

export class LateAnswers {
  readonly #deps: LateAnswersDeps

  constructor(deps: LateAnswersDeps) {
    this.#deps = deps
  }

  /** Cancels the pass of a run that was ended from outside or must end now, and aborts it later. */
  begin(active: ActiveRun): void {
    if (active.late) return
    const { clock, log } = this.#deps
    active.cancelPass?.()
    const close = clock.after(LATE_ANSWER_MS, () => active.abort.abort())
    const hasEnded = this.#end(active).catch(err => {
      log.error({ err, runId: active.state.run.id }, 'a run could not be ended; its lease will run out')
      return false
    })
    active.late = { hasEnded, close }
    // Aborts the pass at once if its run continues or gets no cleanup.
    void hasEnded.then(isEnded => isEnded || active.abort.abort())
  }

  /** Ends the run if it has not ended. Returns whether it has ended and gets a cleanup. */
  async #end({ state: { run } }: ActiveRun): Promise<boolean> {
    const { store, clock, catalog, announcer } = this.#deps
    const load = async () => {
      const loaded = await store.loadRun(run.id)
      return loaded && RunState.loaded(loaded)
    }
    let state = await load()
    const decision = await decideAndCommit({
      store,
      decide: () => state && endUnderWay(state, { now: clock.now(), catalog: catalog.view(run.namespace) }),
      onStale: async () => {
        state = await load()
        return true
      },
    })
    if (decision) announcer.announce(decision.changes)
    const { status, skipsCleanup } = decision?.run ?? state?.run ?? {}
    return (status === 'failed' || status === 'cancelled') && !skipsCleanup
  }

  /** Stores the steps that must be undone. Undefined if it is too late for these, or the run did not end that way. */
  async store(
    { state: { run } }: ActiveRun,
    report: LateReport,
    context: (now: number) => Pick<PassContext, 'now' | 'sent' | 'knowledge'>,
  ): Promise<{ steps: readonly Step[] } | undefined> {
    const { store, clock, announcer } = this.#deps
    const decided = await decideAndCommit({
      store,
      decide: async () => {
        const followed: LoadedRun | undefined = await store.loadRun(run.id)
        const cleanup = followed && (await store.loadRun(cleanupRunId(followed.run)))
        return followed && storeLate({ followed, cleanup }, report, context(clock.now()))
      },
      onStale: () => true,
    })
    if (decided) announcer.announce(decided.changes)
    return decided?.steps && { steps: decided.steps }
  }
}
