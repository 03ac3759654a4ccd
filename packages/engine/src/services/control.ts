// Control actions on runs (contract §4.2), each with its audit entry in the same commit.

import type { Change } from '../domain/change.ts'
import { cancel, pause, replay, resume, retryFromStep } from '../domain/control.ts'
import type { ControlKind } from '../domain/control-action.ts'
import type { Decision } from '../domain/decision.ts'
import { EngineError, invariant } from '../domain/errors.ts'
import type { IdSource } from '../domain/ids.ts'
import type { JsonText } from '../domain/json-text.ts'
import { RunState } from '../domain/run-state.ts'
import type { Clock } from '../ports/clock.ts'
import type { RunView, Store } from '../ports/store.ts'
import type { Announcer } from './announce.ts'
import { attempt } from './attempt.ts'
import type { Catalog } from './catalog.ts'

export interface Actor {
  namespace: string
  label?: string
}

interface Audit {
  action: ControlKind
  runId: string
  newRunId?: string
  detail?: JsonText
}

export interface ControlDeps {
  store: Store
  catalog: Catalog
  announcer: Announcer
  clock: Clock
  ids: IdSource
  /** Aborts the invoke in flight of a run that was just ended. */
  interrupt(runId: string): void
}

export class Control {
  readonly #deps: ControlDeps

  constructor(deps: ControlDeps) {
    this.#deps = deps
  }

  async cancel(actor: Actor, runId: string): Promise<RunView> {
    const { clock, catalog, interrupt } = this.#deps
    const view = await this.#act(actor, { action: 'cancel', runId }, state =>
      cancel(state, { now: clock.now(), catalog: catalog.view(actor.namespace) }),
    )
    interrupt(runId)
    return view
  }

  pause(actor: Actor, runId: string): Promise<RunView> {
    return this.#act(actor, { action: 'pause', runId }, state => pause(state, this.#deps.clock.now()))
  }

  resume(actor: Actor, runId: string): Promise<RunView> {
    return this.#act(actor, { action: 'resume', runId }, state => resume(state, this.#deps.clock.now()))
  }

  async replay(actor: Actor, runId: string, input: JsonText | undefined): Promise<RunView> {
    const { run } = await this.#load(actor, runId)
    const { id, now } = this.#newRun()
    const { changes } = replay(run, { id, now, input })
    return this.#fork(actor, { action: 'replay', runId, newRunId: id }, changes)
  }

  async retryFromStep(actor: Actor, runId: string, step: string): Promise<RunView> {
    const state = await this.#load(actor, runId)
    const { id, now } = this.#newRun()
    const { changes } = retryFromStep(state, { id, now, step })
    const detail = JSON.stringify({ step })
    return this.#fork(actor, { action: 'retry_from_step', runId, newRunId: id, detail }, changes)
  }

  /** Decides on the run, again when it loses a race, and commits with the audit entry. */
  async #act(
    actor: Actor,
    audit: Audit,
    decide: (state: RunState) => Decision | undefined,
  ): Promise<RunView> {
    const { store, announcer } = this.#deps
    let state = await this.#load(actor, audit.runId)
    const decision = await attempt<Decision>({
      store,
      decide: () => decide(state),
      unit: ({ guards, changes }) => ({ guards, changes: [...changes, this.#recorded(actor, audit)] }),
      onStale: async () => {
        state = await this.#load(actor, audit.runId)
        return true
      },
    })
    if (decision) announcer.announce(decision.changes)
    // Nothing to change (a repeated pause) is an action all the same.
    else await store.commit({ guards: [], changes: [this.#recorded(actor, audit)] })
    return this.#view(actor, audit.runId)
  }

  async #fork(actor: Actor, audit: Audit & { newRunId: string }, changes: Change[]): Promise<RunView> {
    const { store, announcer } = this.#deps
    // The source is finished, and what is finished never changes: there is nothing to guard.
    await store.commit({ guards: [], changes: [...changes, this.#recorded(actor, audit)] })
    announcer.announce(changes)
    return this.#view(actor, audit.newRunId)
  }

  async #load(actor: Actor, runId: string): Promise<RunState> {
    const loaded = await this.#deps.store.loadRun(runId)
    if (loaded?.run.namespace !== actor.namespace)
      throw new EngineError('not_found', `There is no run ${runId}.`)
    return RunState.loaded(loaded)
  }

  async #view(actor: Actor, runId: string): Promise<RunView> {
    const view = await this.#deps.store.in(actor.namespace).run(runId)
    invariant(view, `run ${runId} exists`)
    return view
  }

  #newRun(): { id: string; now: number } {
    const now = this.#deps.clock.now()
    return { id: this.#deps.ids.next('run', now), now }
  }

  #recorded({ namespace, label }: Actor, audit: Audit): Change {
    const createdAt = this.#deps.clock.now()
    const id = this.#deps.ids.next('act', createdAt)
    const actor = label === undefined ? {} : { actor: label }
    return { type: 'control.recorded', action: { namespace, id, createdAt, ...actor, ...audit } }
  }
}
