// Lists the passes of a run, with the one under way on this engine (docs/concepts.md#passes). Called by the HTTP routes.

import type { PassSent } from '../../domain/model/step.ts'
import { type PassView, passViews } from '../../domain/view/passes.ts'
import type { Store } from '../../ports/store.ts'

export interface PassesDeps {
  store: Pick<Store, 'in'>
  /** The pass that is under way here, if one is. */
  passOf(runId: string): PassSent | undefined
}

export class Passes {
  readonly #deps: PassesDeps

  constructor(deps: PassesDeps) {
    this.#deps = deps
  }

  /** The first passes with a number greater than `after`, and whether there are more; undefined if there is no such run. */
  async list(
    at: { namespace: string; runId: string },
    query: { after: number; limit: number },
  ): Promise<{ passes: PassView[]; more: boolean } | undefined> {
    const { store, passOf } = this.#deps
    const underWay = passOf(at.runId)
    const found = await store.in(at.namespace).passes(at.runId, query)
    if (!found) return undefined
    const all = passViews({ ...found, underWay }).filter(({ pass }) => pass > query.after)
    return { passes: all.slice(0, query.limit), more: found.more || all.length > query.limit }
  }
}
