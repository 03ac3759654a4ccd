// Settles and withdraws the open chunks of output streams after a decision on their run: chunks of a succeeded step count,
// chunks of a failed or lost attempt do not.

import type { Decision } from '../model/decision.ts'
import { isTerminal } from '../model/run.ts'
import { isSettled, type Step } from '../model/step.ts'
import type { OpenPart } from '../model/stream/stream.ts'
import type { RunState } from '../run/state.ts'
import { type Streams, StreamsDraft } from './streams-draft.ts'

/** Whether any chunks belong to steps that have not settled. */
function hasOpenParts(streams: Streams): boolean {
  for (const { open } of streams.values()) if (open.length > 0) return true
  return false
}

/**
 * The streams after the decision; undefined if they do not change. `ending`: the decision ends the pass; `isLost`: the pass got
 * no readable answer, so nobody knows what its steps did.
 */
export function followDecision(
  streams: Streams,
  { run, steps }: Pick<Decision, 'run' | 'steps'>,
  { now, ending }: { now: number; ending?: { isLost: boolean } | undefined },
): StreamsDraft | undefined {
  if (!hasOpenParts(streams)) return undefined
  const moved = new Map(steps.map(step => [step.id, step]))
  const draft = new StreamsDraft(run.id, streams, now)
  draft.rollBack('failed', ({ id }) => hasFailed(moved.get(id)))
  draft.rollBack('lost', part => isOfOtherPass(part, moved.get(part.id)))
  draft.settle(({ id }) => isSettled(moved.get(id)?.status ?? 'running'))
  // An end by a timeout, a cancel or a result withdraws nothing.
  const isRepeated = ending && (!isTerminal(run.status) || (ending.isLost && run.error?.code !== 'timeout'))
  if (isRepeated) draft.rollBack('lost', ({ id }) => !moved.has(id))
  return draft
}

/** The streams of a run whose pass was lost with its engine, or aborted; undefined if they do not change. */
export function withdrawLost(streams: Streams, { run, steps }: RunState, now: number): StreamsDraft | undefined {
  if (!hasOpenParts(streams)) return undefined
  const draft = new StreamsDraft(run.id, streams, now)
  draft.settle(({ id }) => isSettled(steps.get(id)?.status ?? 'running'))
  draft.rollBack('lost', () => true)
  return draft
}

function hasFailed(step: Step | undefined): boolean {
  return step !== undefined && (step.status === 'failed' || step.status === 'retrying') && step.settledBy === undefined
}

/** Whether the step succeeded in a later pass, in which it wrote nothing. */
function isOfOtherPass({ pass }: OpenPart, step: Step | undefined): boolean {
  return step?.status === 'succeeded' && step.settledBy === undefined && step.pass !== undefined && step.pass !== pass
}
