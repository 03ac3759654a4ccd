// The rules of every kind of opcode. The type demands an entry for each kind that the wire protocol has, so none can be
// forgotten.

import type { Op, Opcode } from '@perdure/protocol'
import { emit } from './emit.ts'
import type { OpcodeRules } from './opcode.ts'
import { replyToUpdate } from './reply-to-update.ts'
import { runWorkflow } from './run-workflow.ts'
import { sleep, sleepUntil } from './sleep.ts'
import { cancelRun, startRun } from './start-run.ts'
import { stepLimit, stepRun } from './step-run.ts'
import { waitForCallback } from './wait-for-callback.ts'
import { waitForEvent, waitForSignal } from './wait-for-event.ts'
import { waitForRun } from './wait-for-run.ts'
import { webhook } from './webhook.ts'

export const OPCODES = {
  StepRun: stepRun,
  StepLimit: stepLimit,
  Sleep: sleep,
  SleepUntil: sleepUntil,
  WaitForEvent: waitForEvent,
  WaitForSignal: waitForSignal,
  ReplyToUpdate: replyToUpdate,
  WaitForCallback: waitForCallback,
  WaitForRun: waitForRun,
  RunWorkflow: runWorkflow,
  StartRun: startRun,
  CancelRun: cancelRun,
  Emit: emit,
  Webhook: webhook,
} as const satisfies { readonly [Op in Opcode['op']]: OpcodeRules<Op> }

/** The kind of the step of the opcode: a step that waits for its turn is recorded as the kind that runs later. */
export function recordedOp(op: Opcode['op']): Op {
  return op === 'StepLimit' ? 'StepRun' : op
}

/** The kinds of opcode whose unsettled steps park their run for this reason. */
export function opsThatParkFor(reason: OpcodeRules<Opcode['op']>['parksFor']): Opcode['op'][] {
  const ops = Object.keys(OPCODES) as Opcode['op'][]
  return ops.filter(op => OPCODES[op].parksFor === reason)
}
