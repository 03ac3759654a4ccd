// Control actions on runs (docs/http-api/run-control.md#run-control), each with its audit entry in the same commit. Called by
// the HTTP routes.

import type { BulkReplayReply } from '@perdure/protocol'
import { startAlone } from '../../domain/arrival/singleton.ts'
import type { Decision, UnitWithQuestions } from '../../domain/model/decision.ts'
import { invariant } from '../../domain/model/errors.ts'
import type { Run, RunFilter } from '../../domain/model/run.ts'
import { cancel, type Fork, pause, replay, resume, retryFromStep } from '../../domain/run/control.ts'
import type { RunState } from '../../domain/run/state.ts'
import type { JsonText } from '../../domain/text/json-text.ts'
import type { RunView } from '../../ports/store-reads.ts'
import type { Act, Actor } from '../commit/audit.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'
import { decideInTurns } from '../commit/turns.ts'
import { BulkReplay } from './bulk-replay.ts'
import type { BulkStepsDeps } from './bulk-steps.ts'
import { loadState, underOf } from './subject.ts'

export interface ControlDeps
  extends Pick<Core, 'store' | 'catalog' | 'namespaces' | 'announcer' | 'clock' | 'ids' | 'log' | 'audit' | 'report'>,
    Pick<BulkStepsDeps, 'interrupt' | 'withdraw'> {
  /** Maximum runs that one bulk replay forks. */
  bulkReplayLimit: number
}

export class Control {
  readonly #deps: ControlDeps
  readonly #bulk: BulkReplay

  constructor(deps: ControlDeps) {
    this.#deps = deps
    this.#bulk = new BulkReplay(deps)
  }

  /** Cancels the run. The audit entry shows if no cleanup follows. */
  async cancel(actor: Actor, runId: string, { skipsCleanup }: { skipsCleanup: boolean }): Promise<RunView> {
    const { clock, catalog, interrupt } = this.#deps
    const detail = skipsCleanup ? { detail: JSON.stringify({ cleanup: false }) } : {}
    const view = await this.#act(actor, { action: 'cancel', runId, ...detail }, state =>
      cancel(state, { now: clock.now(), catalog: catalog.view(actor.namespace), skipsCleanup }),
    )
    interrupt(runId)
    return view
  }

  async pause(actor: Actor, runId: string): Promise<RunView> {
    const { clock, withdraw } = this.#deps
    const view = await this.#act(actor, { action: 'pause', runId }, state => pause(state, clock.now()))
    withdraw(runId)
    return view
  }

  resume(actor: Actor, runId: string): Promise<RunView> {
    return this.#act(actor, { action: 'resume', runId }, state => resume(state, this.#deps.clock.now()))
  }

  /** Throws `namespace_suspended`. Routes check it before they read a body; the calls that fork runs check again. */
  assertActive(namespace: string): void {
    this.#deps.namespaces.assertActive(namespace)
  }

  async replay(actor: Actor, runId: string, input: JsonText | undefined): Promise<RunView> {
    this.#deps.namespaces.assertActive(actor.namespace)
    const { run } = await loadState(this.#deps, actor, runId)
    const { id, now } = this.#newRun()
    const under = underOf(this.#deps, run)
    const fork = await decideInTurns(run.namespace, () => replay(run, { id, now, input, under, trace: actor.trace }))
    return this.#fork(actor, fork, { action: 'replay', runId, newRunId: id })
  }

  async retryFromStep(actor: Actor, runId: string, step: string): Promise<RunView> {
    this.#deps.namespaces.assertActive(actor.namespace)
    const state = await loadState(this.#deps, actor, runId)
    const { id, now } = this.#newRun()
    const under = underOf(this.#deps, state.run)
    const cleanups = state.hasRollback ? await this.#deps.store.in(actor.namespace).cleanups(runId) : undefined
    const how = { id, now, step, under, cleanups, trace: actor.trace }
    const fork = await decideInTurns(actor.namespace, () => retryFromStep(state, how))
    const detail = JSON.stringify({ step })
    return this.#fork(actor, fork, { action: 'retry_from_step', runId, newRunId: id, detail })
  }

  /** Forks the matching runs. The signal aborts the count of these; after the first fork it has no effect. */
  async bulkReplay(actor: Actor, filter: RunFilter, signal?: AbortSignal): Promise<BulkReplayReply> {
    this.#deps.namespaces.assertActive(actor.namespace)
    return this.#bulk.run(actor, filter, signal)
  }

  /** Decides on the run, again after a lost race, and commits with the audit entry. */
  async #act(
    actor: Actor,
    act: Act & { runId: string },
    decide: (state: RunState) => Decision | undefined,
  ): Promise<RunView> {
    const { store, announcer, audit } = this.#deps
    let state = await loadState(this.#deps, actor, act.runId)
    const decision = await decideAndCommit<Decision>({
      store,
      decide: () => decide(state),
      commit: unit => audit.commit(actor, unit, act),
      onStale: async () => {
        state = await loadState(this.#deps, actor, act.runId)
        return true
      },
    })
    if (decision) announcer.announce(decision.changes)
    // An action that changes nothing (a repeated pause) is recorded too.
    else await audit.commit(actor, { guards: [], changes: [] }, act)
    return this.#view(actor, decision?.run ?? state.run)
  }

  /** The source is finished and never changes, so only a singleton of its workflow adds guards. */
  async #fork(actor: Actor, fork: Fork, act: Act): Promise<RunView> {
    const { store, catalog, clock, announcer, audit } = this.#deps
    const { namespace } = actor
    const unit = await decideAndCommit<UnitWithQuestions>({
      store,
      namespace,
      decide: assumptions =>
        startAlone(fork, {
          ...underOf(this.#deps, fork.run),
          assumptions,
          catalog: catalog.view(namespace),
          now: clock.now(),
        }),
      commit: unit => audit.commit(actor, unit, act),
      onStale: () => false,
    })
    invariant(unit, 'nothing but a singleton delays a fork')
    announcer.announce(unit.changes)
    return this.#view(actor, fork.run)
  }

  /** The run as the action left it, even if it has changed since. */
  async #view(actor: Actor, run: Run): Promise<RunView> {
    const view = await this.#deps.store.in(actor.namespace).run(run.id)
    invariant(view, `run ${run.id} exists`)
    return { ...run, currentStepName: view.currentStepName }
  }

  #newRun(): { id: string; now: number } {
    const now = this.#deps.clock.now()
    return { id: this.#deps.ids.nextAt('run', now), now }
  }
}
