// Sets the limits of workflows in place of the registered ones, and removes them (docs/flow-control.md#limits-of-an-operator).
// Called by the HTTP routes.

import { checkedLimits } from '../../domain/holds/operator-limits.ts'
import type { Change, Unit } from '../../domain/model/change.ts'
import { EngineError } from '../../domain/model/errors.ts'
import type { OperatorLimits } from '../../domain/model/flow-control.ts'
import { catalogGuards } from '../../domain/run/assumptions.ts'
import { type Actor, Audit } from '../commit/audit.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'
import { wakeThrottled } from '../commit/wake-throttled.ts'
import type { WorkflowControlDeps, WorkflowName } from './workflow-control.ts'

export class WorkflowLimits {
  readonly #deps: WorkflowControlDeps
  readonly #audit: Audit

  constructor(deps: WorkflowControlDeps) {
    this.#deps = deps
    this.#audit = new Audit(deps)
  }

  /**
   * From now on these limits count, for runs that are queued, too. Without any, the registered ones count again.
   * @throws EngineError `not_found`; `invalid_request` if the workflow registers no such limit.
   */
  async set(actor: Actor, { app, name }: WorkflowName, limits: OperatorLimits): Promise<void> {
    const { store, catalog, announcer, clock } = this.#deps
    const { namespace } = actor
    await catalog.refresh()
    const decided = await decideAndCommit<Unit>({
      store,
      catalog,
      decide: assumptions => {
        const view = catalog.view(namespace)
        const workflow = view.workflow(app, name)
        if (!workflow) throw new EngineError('not_found', `There is no workflow ${name} of app ${app}.`)
        const set = Object.keys(limits).length === 0 ? {} : { limits: checkedLimits(workflow, limits) }
        const named = { namespace, app, name }
        const changes: Change[] = [
          { type: 'workflow.limitsSet', ...named, ...set },
          { type: 'workflow.limited', ...named, at: clock.now() },
        ]
        return { guards: catalogGuards(view, assumptions), changes }
      },
      unit: unit => unit,
      commit: unit =>
        this.#audit.commit(actor, unit, {
          action: 'workflow.limits',
          detail: JSON.stringify({ app, workflow: name, ...limits }),
        }),
      onStale: () => true,
    })
    if (!decided) return
    catalog.apply(decided.changes)
    announcer.announce(decided.changes)
    await wakeThrottled(this.#deps, { namespace, app, workflow: name })
  }
}
