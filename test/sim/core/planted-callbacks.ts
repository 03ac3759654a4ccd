// Planted bugs of callbacks: each breaks one rule of docs/steps.md#callbacks. `planted.test.ts` shows that the simulation notices
// each of them.

import { earlyCallbacksId } from '../../../packages/engine/src/domain/arrival/callback/early-callbacks.ts'
import type { Change, Unit } from '../../../packages/engine/src/domain/model/change.ts'
import { waitForCallback } from '../../../packages/engine/src/domain/pass/opcodes/wait-for-callback.ts'
import type { PlantedBug } from './planted.ts'
import { replace } from './planted-reports.ts'

export const PLANTED_IN_CALLBACKS: readonly PlantedBug[] = [
  {
    name: 'a callback is taken twice',
    from: 6,
    tamper: unit => (unit.changes.every(isKept) ? { guards: [], changes: unit.changes } : unit),
  },
  {
    name: 'an early callback is forgotten',
    from: 13,
    install: () =>
      replace(waitForCallback, 'draft', draft => (pass, opcode, known) => {
        const id = earlyCallbacksId(pass.draft.run)
        const row = pass.assumptions.flow.get(id)
        if (row) pass.draft.changes.push({ type: 'flow.deleted', id })
        if (row) pass.assumptions.flow = new Map(pass.assumptions.flow).set(id, { ...row, state: '{}' })
        return draft(pass, opcode, known)
      }),
  },
  {
    name: 'a wait overlooks a callback that came meanwhile',
    from: 10,
    tamper: ({ guards, changes }: Unit): Unit => ({
      guards: changes.every(isOfPost) ? guards : guards.filter(({ type }) => type !== 'flow'),
      changes,
    }),
  },
]

/** Whether the change comes from a post to a callback. */
function isOfPost(change: Change): boolean {
  return change.type === 'step.woken' || isKept(change)
}

/** Whether the change keeps an early callback. */
function isKept(change: Change): boolean {
  return change.type === 'flow.saved' && change.row.policy === 'callbacks'
}
