// The audit log's side of a control action: its entry shares the commit of what the action changed, but never stands
// in the way of it (contract §4.2, audit rule 3).

import type { Logger } from 'pino'
import type { Unit } from '../../domain/model/change.ts'
import type { ControlAction } from '../../domain/model/control-action.ts'
import { EngineError, StaleError } from '../../domain/model/errors.ts'
import type { IdSource } from '../../domain/text/ids.ts'
import type { Traceparent } from '../../domain/text/traceparent.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Store } from '../../ports/store.ts'

/** Who acts: the label of the API key, if any. */
export interface Actor {
  namespace: string
  label?: string
  /** The `traceparent` of what it asks, where that starts runs: they go on in that trace. */
  trace?: Traceparent
}

/** What an action says of itself. */
export type Act = Pick<ControlAction, 'action' | 'runId' | 'newRunId' | 'detail'>

export interface AuditDeps {
  store: Store
  clock: Clock
  ids: IdSource
  log: Logger
}

export class Audit {
  readonly #deps: AuditDeps

  constructor(deps: AuditDeps) {
    this.#deps = deps
  }

  /**
   * Makes the unit durable with its entry; should that fail, without it, and the log says what went unrecorded. Not when
   * the store is not there at all: the unit may be durable then although its answer was lost.
   */
  commit(actor: Actor, unit: Unit, act: Act): Promise<void> {
    return this.record(unit, this.entry(actor, act))
  }

  /** As `commit`, with an entry that is written again whenever there is more to tell. */
  async record({ guards, changes }: Unit, entry: ControlAction): Promise<void> {
    const { store, log } = this.#deps
    try {
      await store.commit({ guards, changes: [...changes, { type: 'control.recorded', action: entry }] })
    } catch (error) {
      if (error instanceof StaleError || error instanceof EngineError) throw error
      if (changes.length > 0) await store.commit({ guards, changes })
      const { action, runId, newRunId, detail } = entry
      log.error({ err: error, action, runId, newRunId, detail }, 'a control action was not recorded')
    }
  }

  /** An entry to `record`. */
  entry({ namespace, label }: Actor, act: Act): ControlAction {
    const createdAt = this.#deps.clock.now()
    const id = this.#deps.ids.next('act', createdAt)
    return { namespace, id, createdAt, ...(label === undefined ? {} : { actor: label }), ...act }
  }
}
