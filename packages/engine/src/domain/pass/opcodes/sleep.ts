// Sleep: a step that ends after a duration.

import type { OpcodeRules } from './opcode.ts'
import { recordWaiting } from './record.ts'

export const sleep: OpcodeRules<'Sleep'> = {
  payload: null,
  runsOnRunner: false,
  parksFor: 'sleep',
  whenDue: { data: 'null' },
  /** The wake time is fixed when the sleep is persisted, so that a repeated pass cannot lengthen it. */
  draft(pass, opcode) {
    recordWaiting(pass, opcode, { wakeAt: pass.draft.now + Math.ceil(opcode.sleepMs) })
    return undefined
  },
}
