// Pauses and resumes workflows (docs/concepts.md#paused-workflows), and sets the limits of an operator
// (docs/flow-control.md#limits-of-an-operator). Called by the HTTP routes.

import { checkedLimits } from '../../domain/holds/operator-limits.ts'
import type { Unit } from '../../domain/model/change.ts'
import { EngineError } from '../../domain/model/errors.ts'
import type { WorkflowName } from '../../domain/model/event.ts'
import type { OperatorLimits } from '../../domain/model/flow-control.ts'
import type { Workflow } from '../../domain/model/workflow.ts'
import { catalogGuards } from '../../domain/run/assumptions.ts'
import type { Actor } from '../commit/audit.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'
import { wakeThrottled } from '../commit/wake-throttled.ts'

type WorkflowControlDeps = Pick<Core, 'store' | 'catalog' | 'announcer' | 'clock' | 'audit'>

interface WorkflowAct {
  action: 'workflow.pause' | 'workflow.resume' | 'workflow.limits'
  /** Added to the entry in the audit log. */
  detail?: object
  /** Returns the changes, and the guards besides those of the catalog; undefined if nothing changes. */
  decide(workflow: Workflow): Unit | undefined
}

export class WorkflowControl {
  readonly #deps: WorkflowControlDeps

  constructor(deps: WorkflowControlDeps) {
    this.#deps = deps
  }

  /** Pauses the workflow: no run of it starts from now on. Pausing it again changes nothing. @throws EngineError `not_found`. */
  async pause(actor: Actor, named: WorkflowName): Promise<void> {
    const { clock } = this.#deps
    const of = { namespace: actor.namespace, ...named }
    await this.#act(actor, named, {
      action: 'workflow.pause',
      decide: ({ pausedAt }) =>
        pausedAt === undefined
          ? { guards: [], changes: [{ type: 'workflow.paused', ...of, pausedAt: clock.now() }] }
          : undefined,
    })
  }

  /** Starts the waiting runs. @throws EngineError `not_found`, or `conflict` if the workflow is not paused. */
  async resume(actor: Actor, named: WorkflowName): Promise<void> {
    const { clock } = this.#deps
    const { namespace } = actor
    const { app, name } = named
    await this.#act(actor, named, {
      action: 'workflow.resume',
      decide: ({ pausedAt }) => {
        if (pausedAt === undefined)
          throw new EngineError('conflict', `The workflow ${name} of app ${app} is not paused.`)
        return {
          // If several callers resume it at once, one succeeds.
          guards: [{ type: 'paused', namespace, app, workflow: name }],
          changes: [{ type: 'workflow.resumed', namespace, ...named, at: clock.now() }],
        }
      },
    })
  }

  /**
   * Sets limits that apply from now on, even to queued runs. Without any, the registered ones apply again.
   * @throws EngineError `not_found`; `invalid_request` if the workflow registers no such limit.
   */
  async limit(actor: Actor, named: WorkflowName, limits: OperatorLimits): Promise<void> {
    const { clock } = this.#deps
    const of = { namespace: actor.namespace, ...named }
    const isAny = Object.keys(limits).length > 0
    await this.#act(actor, named, {
      action: 'workflow.limits',
      detail: limits,
      decide: workflow => ({
        guards: [],
        changes: [
          { type: 'workflow.limitsSet', ...of, ...(isAny ? { limits: checkedLimits(workflow, limits) } : {}) },
          { type: 'workflow.limited', ...of, at: clock.now() },
        ],
      }),
    })
    await wakeThrottled(this.#deps, { namespace: actor.namespace, app: named.app, workflow: named.name })
  }

  async #act(actor: Actor, { app, name }: WorkflowName, { action, detail, decide }: WorkflowAct): Promise<void> {
    const { store, catalog, announcer, audit } = this.#deps
    const { namespace } = actor
    await catalog.refresh()
    const decided = await decideAndCommit<Unit>({
      store,
      catalog,
      decide: assumptions => {
        const view = catalog.view(namespace)
        const workflow = view.workflow(app, name)
        if (!workflow) throw notRegistered({ app, name }, view.isPaused(app, name))
        const unit = decide(workflow)
        return unit && { ...unit, guards: [...unit.guards, ...catalogGuards(view, assumptions)] }
      },
      commit: unit => audit.commit(actor, unit, { action, detail: JSON.stringify({ app, workflow: name, ...detail }) }),
      onStale: () => true,
    })
    if (!decided) return
    catalog.apply(decided.changes)
    announcer.announce(decided.changes)
  }
}

function notRegistered({ app, name }: WorkflowName, isPaused: boolean): EngineError {
  const pause = isPaused ? ' It stays paused: resume it once a runner registers it again.' : ''
  return new EngineError('not_found', `There is no workflow ${name} of app ${app}.${pause}`)
}
