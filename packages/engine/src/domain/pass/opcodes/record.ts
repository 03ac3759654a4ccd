// Records a new step in the draft of a pass, at once in the status of its opcode. Used by the opcodes that the engine carries
// out itself. Each function returns undefined, as the draft of an opcode that does not end the run.

import type { StepError } from '@perdure/protocol'
import type { Step } from '../../model/step.ts'
import type { JsonText } from '../../text/json-text.ts'
import type { DraftedPass, PassOpcode } from './opcode.ts'

/** StepLimit records a step of another kind. */
type RecordedOpcode = Exclude<PassOpcode, { op: 'StepLimit' }>

/** The fields that every first attempt of a step has. */
export function firstAttempt(
  { id, name, op }: RecordedOpcode,
  startedAt: number,
): Pick<Step, 'id' | 'name' | 'op' | 'attempt' | 'startedAt'> {
  return { id, name, op, attempt: 1, startedAt }
}

export function recordWaiting({ draft }: DraftedPass, opcode: RecordedOpcode, fields: Partial<Step>): undefined {
  draft.record({ ...firstAttempt(opcode, draft.now), status: 'waiting', ...fields })
}

export function recordSucceeded({ draft }: DraftedPass, opcode: RecordedOpcode, fields: Partial<Step>): undefined {
  const { now } = draft
  draft.record({ ...firstAttempt(opcode, now), status: 'succeeded', finishedAt: now, ...fields })
}

/** Records a step that the engine refuses: its error is thrown in the handler, which may catch it. */
export function recordFailed({ draft }: DraftedPass, opcode: RecordedOpcode, error: StepError): undefined {
  const { now } = draft
  draft.record({ ...firstAttempt(opcode, now), status: 'failed', finishedAt: now, error })
}

/** `data`, omitted if there is none. */
export function dataOf(text: JsonText | undefined): { data?: JsonText } {
  return text === undefined ? {} : { data: text }
}
