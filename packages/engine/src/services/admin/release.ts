// Releases an engine that was started held (docs/operating.md#hold-an-engine). Called by the HTTP routes.

import { EngineError } from '../../domain/model/errors.ts'
import type { Actor } from '../commit/audit.ts'
import type { Core } from '../commit/core.ts'
import type { EngineHold } from '../support/engine-hold.ts'

/** Only keys of this namespace may release an engine, because the engine works for all namespaces. */
const OPERATORS = 'default'

export interface ReleaseDeps extends Pick<Core, 'log' | 'audit'> {
  hold: EngineHold
  /** The id of this engine. */
  owner: string
}

export class Release {
  readonly #deps: ReleaseDeps

  constructor(deps: ReleaseDeps) {
    this.#deps = deps
  }

  /** Lets the engine work. A repeat changes nothing. Throws `forbidden` to callers of other namespaces than `default`. */
  async release(actor: Actor): Promise<void> {
    const { hold, log, owner, audit } = this.#deps
    if (actor.namespace !== OPERATORS)
      throw new EngineError('forbidden', `releasing an engine needs a key of the namespace "${OPERATORS}"`)
    if (!hold.release()) return
    log.info('the engine is released')
    const act = { action: 'engine.release' as const, detail: JSON.stringify({ id: owner }) }
    await audit.commit(actor, { guards: [], changes: [] }, act)
  }
}
