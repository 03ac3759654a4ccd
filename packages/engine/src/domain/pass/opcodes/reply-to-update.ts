// ReplyToUpdate: the handler's answer to an update (docs/signals.md#updates). It is stored with the update, in the commit of
// the step. The first answer counts. An answer to a plain signal, or to an update of another run, changes nothing.

import type { UpdateAnswer } from '../../model/event.ts'
import type { OpcodeRules } from './opcode.ts'
import { recordSucceeded } from './record.ts'

export const replyToUpdate: OpcodeRules<'ReplyToUpdate'> = {
  payload: 'data',
  runsOnRunner: false,
  parksFor: null,
  whenDue: null,
  draft(pass, opcode) {
    const { draft } = pass
    const { updateId, rejected, data = 'null' } = opcode
    const { namespace, id: runId } = draft.run
    const answer: UpdateAnswer = rejected === undefined ? { reply: data } : { rejected }
    draft.changes.push({ type: 'update.answered', namespace, runId, updateId, answer })
    return recordSucceeded(pass, opcode, {})
  },
}
