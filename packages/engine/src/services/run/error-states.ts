// Sets the states of error groups: resolved, ignored, or open again (docs/errors.md#states-of-error-groups). Called by the HTTP
// routes.

import type { ErrorStateChange } from '@perdure/protocol'
import type { Unit } from '../../domain/model/change.ts'
import type { Document } from '../../domain/model/document/document.ts'
import { EngineError } from '../../domain/model/errors.ts'
import { isFingerprint } from '../../domain/view/errors/error-fingerprint.ts'
import type { Act, Actor } from '../commit/audit.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'

/** Maximum resolved and ignored groups of a namespace. */
export const ERROR_STATES_MAX = 5000

const ACTIONS = {
  open: 'error.reopen',
  resolved: 'error.resolve',
  ignored: 'error.ignore',
} as const satisfies Record<ErrorStateChange['state'], Act['action']>

export class ErrorStates {
  readonly #deps: Pick<Core, 'store' | 'clock' | 'audit'>

  constructor(deps: Pick<Core, 'store' | 'clock' | 'audit'>) {
    this.#deps = deps
  }

  /**
   * Sets the state of the group. Returns the stored state: undefined for an open group.
   * @throws EngineError `not_found` if no stored run failed with the fingerprint; `conflict` if the namespace has too many
   * states.
   */
  async set(
    actor: Actor,
    fingerprint: string,
    { state }: ErrorStateChange,
  ): Promise<Pick<Document, 'savedAt' | 'actor'> | undefined> {
    const { store, clock, audit } = this.#deps
    const { namespace, label } = actor
    const reads = store.in(namespace)
    const of = { namespace, kind: 'error', id: fingerprint } as const
    let saved: Document | undefined
    await decideAndCommit<Unit>({
      store,
      decide: async () => {
        if (!isFingerprint(fingerprint) || !(await reads.hasFailed(fingerprint)))
          throw new EngineError('not_found', 'no stored run failed with this fingerprint')
        if (state === 'open') {
          const stored = await reads.document('error', fingerprint)
          return stored && { guards: [], changes: [{ type: 'document.deleted', ...of }] }
        }
        saved = { ...of, content: state, savedAt: clock.now(), ...(label === undefined ? {} : { actor: label }) }
        return {
          guards: [
            { type: 'failed', namespace, fingerprint },
            { type: 'documents', ...of, most: ERROR_STATES_MAX - 1 },
          ],
          changes: [{ type: 'document.saved', document: saved }],
        }
      },
      commit: unit => audit.commit(actor, unit, { action: ACTIONS[state], detail: JSON.stringify({ fingerprint }) }),
      onStale: ({ type }) => {
        if (type === 'documents')
          throw new EngineError(
            'conflict',
            `A namespace may have at most ${ERROR_STATES_MAX} resolved or ignored error groups: reopen some of them.`,
          )
        return true
      },
    })
    return saved
  }
}
