// How a pass treats the opcodes of each kind. The type demands an entry for each kind of the wire protocol, so that a new
// kind cannot be forgotten.

import type { Opcode } from '@perdure/protocol'

interface OpcodeRules {
  /** Whether the opcode carries the result of a finished callback, which would run again if the opcode were lost. */
  hasResult: boolean
  /** Whether the engine settles the step as soon as it is reported, so that the handler can go on after a checkpoint. */
  isUrgent: boolean
  /** Whether a step that nobody awaited is still reported after the handler returned. After a throw, only results are. */
  outlivesReturn: boolean
}

export const OPCODE_RULES = {
  StepRun: { hasResult: true, isUrgent: true, outlivesReturn: true },
  // After a return, sleeps and waits have no effect any more.
  Sleep: { hasResult: false, isUrgent: false, outlivesReturn: false },
  SleepUntil: { hasResult: false, isUrgent: false, outlivesReturn: false },
  WaitForEvent: { hasResult: false, isUrgent: false, outlivesReturn: false },
  RunWorkflow: { hasResult: false, isUrgent: false, outlivesReturn: true },
  Emit: { hasResult: false, isUrgent: true, outlivesReturn: true },
  Webhook: { hasResult: false, isUrgent: true, outlivesReturn: true },
} as const satisfies Record<Opcode['op'], OpcodeRules>
