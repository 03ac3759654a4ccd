// The changes of a run's attributes that its handler reports (docs/wire-protocol.md#attributes). Called by advance.ts.

import { ATTRIBUTES_MAX, type RunError } from '@perdure/protocol'
import { type AttributeChanges, changedAttributes } from '../model/attributes.ts'
import type { Draft } from '../run/draft.ts'

/** Drafts the changes that a handler reports. Returns an error that fails the run if it then has too many attributes. */
export function changeAttributes(draft: Draft, changes: AttributeChanges | undefined): RunError | undefined {
  const after = changes && changedAttributes(draft.run.attributes, changes)
  if (after === undefined) return undefined
  if (Object.keys(after).length > ATTRIBUTES_MAX)
    return { message: `The run has more than ${ATTRIBUTES_MAX} attributes.`, code: 'limit_exceeded' }
  draft.setAttributes(after)
  return undefined
}
