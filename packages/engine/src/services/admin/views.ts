// Views of the list of runs that everybody of a namespace sees (docs/console.md#views). Called by the HTTP routes.

import type { PutView } from '@perdure/protocol'
import type { Unit } from '../../domain/model/change.ts'
import type { Document } from '../../domain/model/document/document.ts'
import { EngineError } from '../../domain/model/errors.ts'
import type { Actor } from '../commit/audit.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'

/** Maximum shared views of a namespace: the list of views has no pages. */
export const VIEWS_MAX = 100

export interface SharedView extends PutView, Pick<Document, 'id' | 'savedAt' | 'actor'> {}

export class SharedViews {
  readonly #deps: Pick<Core, 'store' | 'clock' | 'audit'>

  constructor(deps: Pick<Core, 'store' | 'clock' | 'audit'>) {
    this.#deps = deps
  }

  /** Sorted by name, then by id. */
  async list(namespace: string): Promise<SharedView[]> {
    const documents = await this.#deps.store.in(namespace).documents({ kind: 'view', limit: VIEWS_MAX })
    // Compares code units: the order must not depend on the machine's locale.
    return documents.map(viewOf).sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)))
  }

  /** Saves a new view, or replaces the one with the id. @throws EngineError `conflict` if the namespace has too many. */
  async put(actor: Actor, id: string, { name, query }: PutView): Promise<SharedView> {
    const { clock } = this.#deps
    const { namespace, label } = actor
    const content = JSON.stringify({ name, query })
    const of = { namespace, kind: 'view', id } as const
    const document = { ...of, content, savedAt: clock.now(), ...(label === undefined ? {} : { actor: label }) }
    await this.#commit(actor, 'view.put', { id, name }, () => ({
      guards: [{ type: 'documents', ...of, most: VIEWS_MAX - 1 }],
      changes: [{ type: 'document.saved', document }],
    }))
    return viewOf(document)
  }

  /** @throws EngineError `not_found`. */
  async delete(actor: Actor, id: string): Promise<void> {
    const { namespace } = actor
    const found = await this.#deps.store.in(namespace).document('view', id)
    if (!found) throw new EngineError('not_found', 'no such view')
    const { name } = viewOf(found)
    await this.#commit(actor, 'view.delete', { id, name }, () => ({
      guards: [],
      changes: [{ type: 'document.deleted', namespace, kind: 'view', id }],
    }))
  }

  async #commit(actor: Actor, action: 'view.put' | 'view.delete', detail: object, decide: () => Unit): Promise<void> {
    await decideAndCommit<Unit>({
      store: this.#deps.store,
      decide,
      commit: unit => this.#deps.audit.commit(actor, unit, { action, detail: JSON.stringify(detail) }),
      onStale: () => {
        throw new EngineError('conflict', `a namespace may have at most ${VIEWS_MAX} shared views: delete some of them`)
      },
    })
  }
}

function viewOf({ id, content, savedAt, actor }: Document): SharedView {
  const { name, query } = JSON.parse(content) as PutView
  return { id, name, query, savedAt, ...(actor === undefined ? {} : { actor }) }
}
