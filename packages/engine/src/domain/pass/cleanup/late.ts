// Steps that a pass reports after its run was ended from outside (docs/wire-protocol.md#late-answers). They are stored with the
// ended run, and undone. Called by services/pass/late-answers.

import { STEPS_MAX } from '@perdure/protocol'
import type { Change, Guard } from '../../model/change.ts'
import { isTerminal, type Run, runKind } from '../../model/run.ts'
import { firstSeq } from '../../model/seq.ts'
import { nextAttempt, type PassSent, type Step } from '../../model/step.ts'
import { END_LINES_MAX, LATE_ANSWER_MS } from '../../run/cleanup/late-window.ts'
import { cleanupRun } from '../../run/create.ts'
import { Draft } from '../../run/draft.ts'
import { type LoadedRun, RunState } from '../../run/state.ts'
import type { PassContext } from '../opcodes/context.ts'
import type { PassOpcode, PassOpcodeOf } from '../opcodes/opcode.ts'
import { dataOf } from '../opcodes/record.ts'
import { ranTimes } from '../opcodes/step-run.ts'

export interface LateReport {
  opcodes: readonly PassOpcode[]
  /** The pass has ended: the cleanup run does not need to wait any longer. */
  isOver: boolean
  /** Ids of steps whose spends were in an earlier report of the pass. */
  counted?: ReadonlySet<string> | undefined
}

/** The ended run, and the run that cleans up after it, if it exists already. */
export interface EndedRun {
  followed: LoadedRun
  cleanup: LoadedRun | undefined
}

type LateContext = Pick<PassContext, 'now' | 'sent' | 'knowledge'>

/**
 * Stores late steps. The result has no steps when it is too late: the run has no cleanup, the time is over, or the cleanup run
 * has begun. Then the report only counts for budgets; undefined if it does not count for those. If another pass has continued
 * the run, the report changes nothing.
 */
export function storeLate(
  { followed, cleanup }: EndedRun,
  { opcodes, isOver, counted }: LateReport,
  context: LateContext,
): { guards: Guard[]; changes: Change[]; steps?: readonly Step[] } | undefined {
  const { run } = followed
  if (!isTerminal(run.status) || isOvertaken(run, context.sent)) return undefined
  const state = RunState.ended(followed, seqBefore(followed))
  const draft = new Draft(state, context.now)
  draft.pass = context.sent
  spendOf(
    draft,
    state,
    opcodes.filter(({ id }) => !counted?.has(id)),
  )
  if (!mayCleanUp(run, context.now) || (cleanup && hasBegun(cleanup.run))) {
    const { guards, changes } = draft.done()
    return changes.length === 0 ? undefined : { guards, changes }
  }
  draft.guards.push({ type: 'steps', runId: run.id, seq: state.lastStepSeq })
  for (const opcode of succeeded(opcodes)) recordLate(draft, state, { opcode, context })
  const { guards, changes, steps } = draft.done()
  const next = releasing(draft, cleanup, isOver)
  return { guards: [...guards, ...next.guards], changes: [...changes, ...next.changes], steps }
}

/** The steps of an answer that are stored although its run must end: none, unless one of them can be undone. */
export function succeeded(opcodes: readonly PassOpcode[]): PassOpcodeOf<'StepRun'>[] {
  const ran = opcodes.filter((opcode): opcode is PassOpcodeOf<'StepRun'> => opcode.op === 'StepRun' && !opcode.error)
  return ran.some(({ rollback }) => rollback) ? ran : []
}

/** Counts the spends of attempts, except those whose step has a stored end. */
export function spendOf(draft: Draft, { steps }: RunState, opcodes: readonly PassOpcode[]): void {
  for (const opcode of opcodes) {
    if (opcode.op !== 'StepRun' || !opcode.spent) continue
    const { status } = steps.get(opcode.id) ?? {}
    if (status !== 'succeeded' && status !== 'failed') draft.spend(opcode.spent)
  }
}

/** Whether a later pass of the run, or a pass of another engine, has stored something. */
function isOvertaken({ lastPass }: Run, sent: PassSent | undefined): boolean {
  if (!lastPass || !sent) return false
  return lastPass.pass > sent.pass || (lastPass.pass === sent.pass && lastPass.passSentAt !== sent.passSentAt)
}

function mayCleanUp(run: Run, now: number): boolean {
  if (run.status !== 'failed' && run.status !== 'cancelled') return false
  return runKind(run) === 'run' && !run.skipsCleanup && now <= (run.finishedAt as number) + LATE_ANSWER_MS
}

function hasBegun({ status, startedAt, leaseOwner }: Run): boolean {
  return status !== 'queued' || startedAt !== undefined || leaseOwner !== undefined
}

/** The last seq in use before the seqs of the end. */
function seqBefore({ run, steps }: LoadedRun): number {
  return Math.max(firstSeq(run.fence) - 1, ...steps.map(({ seq }) => seq))
}

function recordLate(
  draft: Draft,
  state: RunState,
  { opcode, context }: { opcode: PassOpcodeOf<'StepRun'>; context: LateContext },
): void {
  const { id, name, op, rollback } = opcode
  const known = state.steps.get(id)
  // A step that was waiting for its retry is cancelled with its run.
  const isOpen = known === undefined ? draft.nextIndex < STEPS_MAX : known.status === 'cancelled' && known.op === op
  if (!isOpen || draft.lastSeq + END_LINES_MAX >= (draft.run.finishedSeq as number)) return
  const result = {
    status: 'succeeded' as const,
    finishedAt: draft.now,
    ...ranTimes(opcode, context),
    ...dataOf(opcode.data),
    ...(rollback ? { rollback: true as const } : {}),
  }
  if (known) draft.moveStep(known, { ...result, attempt: nextAttempt(known), error: undefined, ...context.sent })
  else draft.record({ id, name, op, attempt: 1, startedAt: context.knowledge.asOf, ...result })
}

/**
 * Creates the cleanup run if there is something to undo now. It is due when the pass is over, at the latest when its time is
 * over.
 */
function releasing(
  draft: Draft,
  cleanup: LoadedRun | undefined,
  isOver: boolean,
): { guards: Guard[]; changes: Change[] } {
  const { run, now } = draft
  if (!cleanup) {
    if (!draft.hasRollback) return { guards: [], changes: [] }
    const endedAt = run.finishedAt as number
    // The slots that the run kept have been free since its end.
    const { holds: _, ...created } = cleanupRun(run, { error: run.error, now: endedAt })
    const availableAt = isOver ? now : endedAt + LATE_ANSWER_MS
    return { guards: [], changes: [{ type: 'run.created', run: { ...created, availableAt } }] }
  }
  const { id: runId, fence } = cleanup.run
  if (!isOver) return { guards: [{ type: 'run', runId, fence }], changes: [] }
  const due = new Draft(RunState.loaded(cleanup), now)
  due.set({ availableAt: now })
  return due.done()
}
