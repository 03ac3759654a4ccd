// Parking: when a run that has nothing to do now wakes, and what it waits for. Also the opposite: settling the due timers.
// Called by the decisions about passes in this folder.

import { hasNewTurn, hasSentTurn, isAtLimit, mayAskAgain } from '../holds/turns.ts'
import { invariant } from '../model/errors.ts'
import type { WaitingFor } from '../model/run.ts'
import { type Step, timerOf } from '../model/step.ts'
import type { Assumptions } from '../run/assumptions.ts'
import type { Draft } from '../run/draft.ts'
import { cancelChild } from '../run/finish.ts'
import { holdMs } from '../run/retry.ts'
import { shownRunId } from '../text/ids.ts'
import { signalOf } from '../text/name.ts'
import { OPCODES } from './opcodes/registry.ts'
import { endOfWait } from './opcodes/wait-for-run.ts'

/** Settles every sleep that has ended, every wait and child that has timed out, and every wait for a run that has ended. */
export function settleDue(draft: Draft, { newest }: Pick<Assumptions, 'newest'>): void {
  for (const step of [...draft.open.values()]) {
    if (step.status !== 'waiting' || (timerOf(step) ?? Number.POSITIVE_INFINITY) > draft.now) continue
    if (step.op === 'RunWorkflow') {
      endChild(draft, step)
      continue
    }
    const { whenDue } = OPCODES[step.op]
    invariant(whenDue, `a ${step.op} step has no time to wake`)
    const end = step.awaitedRunId === undefined ? undefined : endOfWait(draft, step.awaitedRunId, newest)
    draft.moveStep(step, { status: 'succeeded', finishedAt: draft.now, ...(end ?? whenDue) })
  }
}

/** Ends a child that has not ended by its timeout: it is cancelled, and the step fails. */
function endChild(draft: Draft, step: Step): void {
  const { childRunId, childStart } = step
  if (childRunId !== undefined) cancelChild(draft, childRunId)
  const what = childRunId === undefined ? `Workflow "${childStart?.workflow}"` : `Child run ${childRunId}`
  const message = `${what} did not end within the timeout of step "${step.name}".`
  const error = { name: 'ChildTimeoutError', message, code: 'child_timeout' }
  draft.moveStep(step, { status: 'failed', finishedAt: draft.now, error, childStart: undefined })
}

/**
 * Parks the drafted run until the earliest deadline of its open steps and gives the lease back. A paused run stays paused and
 * wakes only to settle timers. `sentAt` is when the last pass was sent: a retry that was due at that time and was not reported
 * will never be reported, so it is no reason to wake. Returns false, and changes nothing, if nothing will ever wake the run.
 */
export function park(draft: Draft, sentAt: number): boolean {
  const reasons = [...draft.open.values()].filter(
    step =>
      (step.status === 'waiting' && !mayAskAgain(step)) ||
      (step.status === 'retrying' && (step.nextAttemptAt ?? 0) > sentAt),
  )
  const paused = draft.run.status === 'paused'
  if (reasons.length === 0 && !paused) return false
  const timers = paused ? reasons.filter(step => step.status === 'waiting') : reasons
  const deadlines = timers
    .map(step => (paused ? timerOf(step) : deadline(step, draft.now)))
    .filter(time => time !== undefined)
  draft.set({
    availableAt: deadlines.length === 0 ? undefined : Math.min(...deadlines),
    leaseOwner: undefined,
    waitingFor: paused ? reasonOf(draft) : waitingFor(reasons, draft.now),
  })
  if (!paused) draft.move('waiting')
  return true
}

/** Lets the next pass start the steps whose turn has come. Returns whether there are any. */
export function takeTurns(draft: Draft): boolean {
  const steps = [...draft.open.values()].filter(hasNewTurn)
  for (const step of steps) draft.moveStep(step, { nextAttemptAt: draft.now })
  return steps.length > 0
}

/**
 * Takes the turns of steps that the pass, now over, could start but did not report. They may have started, so their turns
 * count, and they need new ones. The handler may also take another path now: then nobody requests a turn again.
 */
export function loseTurns(draft: Draft): void {
  for (const step of [...draft.open.values()].filter(hasSentTurn)) {
    draft.endTurn(step, draft.now)
    draft.moveStep(step, { turnAt: undefined })
  }
}

/** Gives the turns away because no runner can take the run: its steps request new ones in its next pass. */
export function leaveTurns(draft: Draft): void {
  for (const step of [...draft.open.values()].filter(step => isAtLimit(step) && step.turnAt !== undefined)) {
    draft.leaveTurn(step)
    draft.moveStep(step, { turnAt: undefined, nextAttemptAt: draft.now })
  }
}

/** Keeps the turns for the next pass, because this one was not sent. */
export function keepTurns(draft: Draft): void {
  for (const step of [...draft.open.values()].filter(hasSentTurn)) draft.moveStep(step, { nextAttemptAt: undefined })
}

/** The failure or the budget that is the reason for the pause, if it is one of these. */
function reasonOf({ run: { waitingFor } }: Draft): WaitingFor | undefined {
  return waitingFor?.kind === 'failure' || waitingFor?.kind === 'budget' ? waitingFor : undefined
}

/** When the open step continues by itself, if it ever does. */
function deadline(step: Step, now: number): number | undefined {
  const { status, nextAttemptAt, childStart, startedAt } = step
  const wakeAt = timerOf(step)
  if (status === 'retrying') return nextAttemptAt
  // A registration wakes the run, but the wake-up may be missed.
  return childStart ? Math.min(childStart.until, now + holdMs(now - startedAt), wakeAt ?? Infinity) : wakeAt
}

/** The reason that ends first; reasons with a deadline come before those without. */
function waitingFor(reasons: readonly Step[], now: number): WaitingFor {
  const at = (step: Step) => deadline(step, now) ?? Infinity
  const [first] = [...reasons].sort((a, b) => at(a) - at(b)) as [Step]
  const until = deadline(first, now)
  if (isAtLimit(first)) return { kind: 'limit', stepName: first.name, ...first.limit }
  const kind = first.childStart ? 'runner' : OPCODES[first.op].parksFor
  invariant(kind, `a ${first.op} step is settled at once`)
  const { name: stepName, childRunId, awaitedRunId } = first
  const signal = signalOf(first.eventName)
  const eventName = signal === undefined ? first.eventName : undefined
  const awaited = awaitedRunId === undefined ? {} : { runId: shownRunId(awaitedRunId) }
  const { attempt, maxAttempts } = first
  const tries = kind === 'retry' && { attempt, ...(maxAttempts !== undefined && { maxAttempts }) }
  return { kind, stepName, until, eventName, ...(signal !== undefined && { signal }), childRunId, ...awaited, ...tries }
}
