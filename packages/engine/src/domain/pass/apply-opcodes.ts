// Drafts the opcodes of one pass or checkpoint (docs/wire-protocol.md#opcodes), each by the rules of its kind. All of
// them are in one draft, so that one commit persists all or none.

import type { RunError } from '@perdure/protocol'
import type { Step } from '../model/step.ts'
import type { Draft } from '../run/draft.ts'
import { isDue, type RunState } from '../run/state.ts'
import { spendOf, succeeded } from './cleanup/late.ts'
import type { PassContext } from './opcodes/context.ts'
import type { DraftedPass, PassOpcode } from './opcodes/opcode.ts'
import { OPCODES, recordedOp } from './opcodes/registry.ts'
import { inLogOrder, moveBehindEarlier } from './opcodes/wait-for-event.ts'

/**
 * Drafts every new opcode. An opcode of a step that is settled or parked already is a repeat and changes nothing.
 * Returns the error of the first step whose failure ends the run.
 */
export function applyOpcodes(
  draft: Draft,
  state: RunState,
  opcodes: readonly PassOpcode[],
  context: PassContext,
): RunError | undefined {
  const pass: DraftedPass = {
    draft,
    state,
    context,
    emittedEvents: [],
    seen: new Map(),
    eventsAmong: new Map(),
    claimedIds: new Map(),
    wokenWaiters: new Set(),
    guarded: new Set(),
    // A copy: the pass reads the flow-control rows that it has itself written (`noteWritten`).
    assumptions: { ...context.assumptions },
  }
  // Nearly every pass reports one step, which cannot repeat another.
  const seen = opcodes.length > 1 ? new Set<string>() : undefined
  let failure: RunError | undefined
  for (const opcode of inLogOrder(pass, opcodes)) {
    const { id, op } = opcode
    const rules = OPCODES[op]
    const known = state.steps.get(id)
    if (known && known.op !== recordedOp(op) && isDue(known, context.sentAt) && !seen?.has(id)) {
      failure ??= changedKind(known, op)
      continue
    }
    const isRepeat = known !== undefined && !(rules.runsOnRunner && isDue(known, context.sentAt))
    if (isRepeat || seen?.has(id)) continue
    seen?.add(id)
    const failed = rules.draft(pass, opcode as never, known)
    failure ??= failed
  }
  if (pass.seen.size > 0) moveBehindEarlier(pass)
  return failure
}

/** Drafts the opcodes of a pass whose run must end: steps that must be undone, and the spends of all attempts. */
export function applyLate(draft: Draft, state: RunState, opcodes: readonly PassOpcode[], context: PassContext): void {
  const kept: readonly PassOpcode[] = succeeded(opcodes)
  applyOpcodes(draft, state, kept, context)
  const others = opcodes.filter(opcode => !kept.includes(opcode))
  spendOf(draft, state, others)
}

/**
 * The error if a step's kind has changed. The runner gets the kinds of stored steps with the memo, except for steps whose retry
 * is due.
 */
function changedKind({ name, op: stored }: Step, op: string): RunError {
  const message = `Step "${name}" is stored as ${stored}, and the code now calls it as ${op}: give the step another name.`
  return { message, name: 'NondeterminismError', code: 'nondeterministic' }
}
