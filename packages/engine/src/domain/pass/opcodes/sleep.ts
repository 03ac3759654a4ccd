// Sleep and SleepUntil: steps that end after a duration, or at a point in time.

import type { OpcodeRules } from './opcode.ts'
import { recordWaiting } from './record.ts'

/** The last millisecond of the year 9999: a timestamp has no fifth digit for the year. */
const WAKE_AT_MS_MAX = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

export const sleep: OpcodeRules<'Sleep'> = {
  payload: null,
  runsOnRunner: false,
  parksFor: 'sleep',
  whenDue: { data: 'null' },
  /** The wake time is fixed when the sleep is stored, so that a repeated pass cannot lengthen it. */
  draft(pass, opcode) {
    return recordWaiting(pass, opcode, { wakeAt: pass.draft.now + Math.ceil(opcode.sleepMs) })
  },
}

export const sleepUntil: OpcodeRules<'SleepUntil'> = {
  payload: null,
  runsOnRunner: false,
  parksFor: 'sleep',
  whenDue: { data: 'null' },
  /** The target is stored unchanged if a timestamp can express it. A sleep until a past time ends at once. */
  draft(pass, opcode) {
    const wakeAt = Math.min(WAKE_AT_MS_MAX, Math.max(0, Math.ceil(opcode.sleepUntilMs)))
    return recordWaiting(pass, opcode, { wakeAt })
  },
}
