// Decides a checkpoint: steps that a runner reports while its pass continues (docs/wire-protocol.md#checkpoints). The rules are
// those of a 206, except that the run neither parks nor needs another pass. Called by services/pass/checkpoint.

import { hasSentTurn } from '../holds/turns.ts'
import type { Next, PassDecision } from '../model/decision.ts'
import { isSettled, type Step } from '../model/step.ts'
import { passMayAnswer } from '../run/cleanup/late-window.ts'
import { Draft } from '../run/draft.ts'
import { type End, finish, takenEvents } from '../run/finish.ts'
import type { RunState } from '../run/state.ts'
import type { JsonText } from '../text/json-text.ts'
import { applyReported, restoreTries } from './advance.ts'
import type { Reported } from './answer/outcome.ts'
import type { ReportedRunning } from './answer/running.ts'
import { applyLate } from './apply-opcodes.ts'
import { keepLogs } from './logs.ts'
import type { PassContext } from './opcodes/context.ts'
import { OPCODES } from './opcodes/registry.ts'
import { settleDue } from './park.ts'
import { storeDueProgress, storeProgress } from './progress.ts'

/** Returns the decision. With `next: 'pass'` the pass continues; with 'stop' the run has ended and its pass must be aborted. */
export function checkpoint(state: RunState, reported: Reported, context: PassContext): PassDecision {
  const draft = new Draft(state, context.now)
  draft.pass = context.sent
  if (state.run.inbox !== undefined) draft.knew = context.knowledge.seq
  const next = decideNext(draft, state, reported, context)
  storeDueProgress(draft, reported.progress ?? context.pendingProgress)
  return { decision: draft.done(), next }
}

function decideNext(draft: Draft, state: RunState, reported: Reported, context: PassContext): Next {
  const end = (how: End): Next => {
    if (how.status !== 'cancelled') storeProgress(draft, reported.progress ?? context.pendingProgress)
    finish(draft, how, context.catalog, { given: takenEvents(state, context.knowledge.settled, []) })
    return 'stop'
  }
  if (draft.run.cancelRequested) {
    if (reported.kind === 'opcodes') applyLate(draft, state, reported.opcodes, context)
    finish(draft, { status: 'cancelled' }, context.catalog, { mayAnswer: passMayAnswer(draft.run, context.catalog) })
    return 'stop'
  }
  keepLogs(draft, state, reported, context)
  if (reported.kind === 'rejected') return end({ status: 'failed', error: reported.error })
  // A checkpoint of progress alone does not count as an advance: a handler that then throws again must not continue for ever.
  if (reported.opcodes.length > 0 || reported.progress === undefined) restoreTries(draft)
  const ended = applyReported(draft, state, reported, context)
  if (ended) return end(ended)
  settleDue(draft, context.assumptions)
  // A pause and a resume during the pass leave the run queued although its owner still holds it.
  if (draft.run.status === 'queued') draft.move('running')
  return 'pass'
}

/** Stores a progress that has waited. Nothing else about the run is decided. */
export function pendingProgress(state: RunState, context: PassContext): PassDecision {
  const draft = new Draft(state, context.now)
  storeProgress(draft, context.pendingProgress)
  return { decision: draft.done(), next: 'pass' }
}

/**
 * Stores when the callbacks of steps with turns started, which the runner reports while they run. Undefined if none of the
 * steps has a turn.
 */
export function turnsStarted(
  state: RunState,
  running: readonly ReportedRunning[],
  now: number,
): PassDecision | undefined {
  const draft = new Draft(state, now)
  for (const { id, startedMs } of running) {
    const step = state.open.get(id)
    // The runner rounds to whole milliseconds.
    if (step && hasSentTurn(step)) draft.startTurn(step, now - Math.max(0, Math.floor(startedMs) - 1))
  }
  return draft.changes.length === 0 ? undefined : { decision: draft.done(), next: 'pass' }
}

/** A decision that changes nothing about the run. */
export function unchanged(state: RunState, now: number): PassDecision {
  return { decision: new Draft(state, now).done(), next: 'pass' }
}

export interface Acknowledged {
  /** Seq of the checkpoint that is acknowledged. */
  seq: number
  /** Steps that the commit of the checkpoint recorded or moved. */
  written: readonly Step[]
  /** Other steps that the runner must learn of. */
  others: readonly Step[]
  /** Requests the runner to end the pass. */
  stop: boolean
}

/**
 * The payload of a `checkpoint.ack`. Its steps are in the order of their seqs, as in the memo of a later replay. A step that
 * succeeded as the runner reported it is listed only by its id.
 */
export function acknowledge({ seq, written, others, stop }: Acknowledged): JsonText {
  return `{"seq":${seq},"steps":[${ackEntries(written, others)}]${stop ? ',"stop":true' : ''}}`
}

function ackEntries(written: readonly Step[], others: readonly Step[]): string {
  const [only] = written
  // Nearly every checkpoint has one step.
  if (only && written.length === 1 && others.every(({ id }) => id === only.id)) return ackEntry(only, true)
  // A step may change twice in one commit: its last row counts.
  const rows = new Map(others.map(step => [step.id, step]))
  const fresh = new Set<string>()
  for (const step of written) {
    rows.set(step.id, step)
    fresh.add(step.id)
  }
  const steps = [...rows.values()].sort((a, b) => a.seq - b.seq)
  return steps.map(step => ackEntry(step, fresh.has(step.id))).join(',')
}

function ackEntry(step: Step, isFresh: boolean): JsonText {
  const id = `{"id":${JSON.stringify(step.id)}`
  if (!isSettled(step.status)) return `${id},"pending":true}`
  if (step.status !== 'succeeded') return `${id},"error":${JSON.stringify(step.error)}}`
  return isFresh && OPCODES[step.op].runsOnRunner ? `${id}}` : `${id},"data":${step.data ?? 'null'}}`
}
