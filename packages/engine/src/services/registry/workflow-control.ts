// Pauses and resumes workflows (docs/concepts.md#paused-workflows). Called by the HTTP routes.

import type { Guard, Unit } from '../../domain/model/change.ts'
import { EngineError } from '../../domain/model/errors.ts'
import { catalogGuards } from '../../domain/run/assumptions.ts'
import { type Actor, Audit } from '../commit/audit.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'

export type WorkflowControlDeps = Pick<Core, 'store' | 'catalog' | 'announcer' | 'clock' | 'ids' | 'log'>

/** A workflow of the actor's namespace. */
export interface WorkflowName {
  app: string
  name: string
}

export class WorkflowControl {
  readonly #deps: WorkflowControlDeps
  readonly #audit: Audit

  constructor(deps: WorkflowControlDeps) {
    this.#deps = deps
    this.#audit = new Audit(deps)
  }

  /** From now on no run of the workflow starts; a paused one stays as it is. @throws EngineError `not_found`. */
  pause(actor: Actor, workflow: WorkflowName): Promise<void> {
    return this.#act(actor, workflow, 'pause')
  }

  /** Starts the runs that wait. @throws EngineError `not_found`, or `conflict` if the workflow is not paused. */
  resume(actor: Actor, workflow: WorkflowName): Promise<void> {
    return this.#act(actor, workflow, 'resume')
  }

  async #act(actor: Actor, { app, name }: WorkflowName, verb: 'pause' | 'resume'): Promise<void> {
    const { store, catalog, announcer, clock } = this.#deps
    const { namespace } = actor
    await catalog.refresh()
    const decided = await decideAndCommit<Unit>({
      store,
      catalog,
      decide: assumptions => {
        const view = catalog.view(namespace)
        const workflow = view.workflow(app, name)
        if (!workflow) throw notRegistered({ app, name }, view.isPaused(app, name))
        if (verb === 'pause' && workflow.pausedAt !== undefined) return undefined
        if (verb === 'resume' && workflow.pausedAt === undefined)
          throw new EngineError('conflict', `The workflow ${name} of app ${app} is not paused.`)
        const now = clock.now()
        const named = { namespace, app, name }
        const change =
          verb === 'pause'
            ? ({ type: 'workflow.paused', ...named, pausedAt: now } as const)
            : ({ type: 'workflow.resumed', ...named, at: now } as const)
        // If several resume it at once, one of them does.
        const guards: Guard[] = verb === 'resume' ? [{ type: 'paused', namespace, app, workflow: name }] : []
        return { guards: [...guards, ...catalogGuards(view, assumptions)], changes: [change] }
      },
      unit: unit => unit,
      commit: unit =>
        this.#audit.commit(actor, unit, {
          action: `workflow.${verb}`,
          detail: JSON.stringify({ app, workflow: name }),
        }),
      onStale: () => true,
    })
    if (!decided) return
    catalog.apply(decided.changes)
    announcer.announce(decided.changes)
  }
}

function notRegistered({ app, name }: WorkflowName, isPaused: boolean): EngineError {
  const pause = isPaused ? ' It is paused, and stays so: resume it once a runner registers it again.' : ''
  return new EngineError('not_found', `There is no workflow ${name} of app ${app}.${pause}`)
}
