// Records control actions in the audit log. An entry is in the same commit as the changes of its action, but never prevents
// that commit (docs/concepts.md#audit). Used by every service that carries out such actions.

import type { Logger } from 'pino'
import type { KeyKind } from '../../domain/model/api-key.ts'
import type { Unit } from '../../domain/model/change.ts'
import type { ControlAction } from '../../domain/model/control-action.ts'
import { EngineError, StaleError } from '../../domain/model/errors.ts'
import type { IdSource } from '../../domain/text/ids.ts'
import type { Traceparent } from '../../domain/text/traceparent.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Store } from '../../ports/store.ts'
import type { RunGrant } from '../support/run-tokens.ts'

/** The caller of an action. */
export interface Actor {
  namespace: string
  /** The label of the API key, if there is one. */
  label?: string
  /** The id of that key: several keys may have one label. */
  keyId?: string
  kind?: KeyKind
  /** Present only if the request has a run token instead of a key: the token reads only that run. */
  runToken?: RunGrant
  /** The caller's `traceparent`: runs that the action starts continue its trace. */
  trace?: Traceparent
}

/** The part of an entry that depends on the action. */
export type Act = Pick<ControlAction, 'action' | 'runId' | 'newRunId' | 'detail'>

interface AuditDeps {
  store: Pick<Store, 'commit'>
  clock: Pick<Clock, 'now'>
  ids: IdSource
  log: Pick<Logger, 'error'>
}

export class Audit {
  readonly #deps: AuditDeps

  constructor(deps: AuditDeps) {
    this.#deps = deps
  }

  /**
   * Makes the unit durable with its entry; if that fails, without it, and logs the action instead. Does not try again when the
   * store is unavailable: the unit may be durable although its answer was lost.
   */
  commit(actor: Actor, unit: Unit, act: Act): Promise<void> {
    return this.record(unit, this.entry(actor, act))
  }

  /** The same for an entry that several commits write, each with more data in it. */
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

  /** An entry for `record`. */
  entry({ namespace, label }: Actor, act: Act): ControlAction {
    const createdAt = this.#deps.clock.now()
    const id = this.#deps.ids.next('act', createdAt)
    return { namespace, id, createdAt, ...(label === undefined ? {} : { actor: label }), ...act }
  }
}
