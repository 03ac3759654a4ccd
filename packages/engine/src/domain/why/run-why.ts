// Why a run is in its status, as fields for programs and as one sentence for people (docs/flow-control.md#why-does-it-wait).
// The command, the console and the test kit print the sentence; files beside this one write parts of it. services/run/why gathers
// the facts.

import { elapsedText, type RunExplanation } from '@perdure/protocol'
import { chainWarning } from '../holds/generations.ts'
import { firstStartAt, waitsForThrottle } from '../holds/throttle.ts'
import { isTerminal, type Run, type RunStatus, runDurationMs, type WaitingFor } from '../model/run.ts'
import { isSettled, type PassSent, type Step } from '../model/step.ts'
import { nextTimer } from '../run/control.ts'
import { inRowWarning } from '../run/later/ended-event.ts'
import { shownRunId } from '../text/ids.ts'
import { optionalTimestamp, timestamp } from '../text/timestamp.ts'
import { waitingForText } from '../view/run-summary.ts'
import { pausedForBudgetSentence } from './budget.ts'
import { circleWarning, type WaitCircle } from './circle.ts'
import { by, deadlineText, nextStartText } from './deadlines.ts'
import { failureText, shownFailure, spentText } from './failure.ts'
import { limitSentence } from './limit-sentence.ts'
import { type TurnPoolNow, turnText } from './turn-pool.ts'
import { faultText, type WaitFault } from './wait-fault.ts'

/** Maximum number of children in an answer: a run may have started thousands. */
const CHILDREN_SHOWN_MAX = 20

export interface Facts {
  run: Run
  /** When the run took its status. */
  since: number
  /** The open steps, and the failed step that is the reason for the pause. */
  steps: readonly Step[]
  /** The runs that hold the slot which the run waits for. */
  blockedBy?: readonly { runId: string; since: number }[]
  /**
   * Number of runners that may take the run: those of its app, or its pin, that serve its workflow. Connect runners are live or
   * disconnected. `without`: other runners of the app, or the pin, that do not serve the workflow.
   */
  runners: { live: number; stale: number; disconnected: number; without: number }
  /** The newest failed pass on one of these runners, if this engine knows of one. */
  lastFailure?: { runnerId: string; at: number; message: string } | undefined
  /** The maximum generation in a chain of runs. */
  generationsMax: number
  /** Maximum tries of a pass of the run. */
  triesMax: number
  /** The pass of the run that this engine has under way. */
  pass?: PassSent | undefined
  /** The newest step of that pass that its runner reported as running. */
  runningStep?: string | undefined
  /** Whether the next pass waits for room on a runner, as far as this engine knows. */
  isInRunnerQueue?: boolean
  /** The size of its state, if this engine left the run for lack of memory. */
  bytesWithoutMemory?: number | undefined
  /** Number of held runs before this one, if a limit holds it. */
  position?: number | undefined
  /** The limit that holds the run, if it was set by an operator. */
  limitOfOperator?: number | undefined
  /** The newest event since the beginning of the wait that could not be compared with the wait's expression. */
  waitFault?: WaitFault | undefined
  /** The step that settled last, if the run is parked and has gained no step since. */
  settledLast?: string | undefined
  /** Whether this engine is held and begins nothing. */
  isEngineHeld?: boolean
  /** The turns that the run waits for. */
  turns?: TurnPoolNow | undefined
  /** The circle of waits that the run is in. */
  circle?: WaitCircle | undefined
  /** The run that this run's event was delivered to, and that ended without taking it. */
  deliveredTo?: string | undefined
  /** Runs that steps of the run started and do not wait for. */
  started?: readonly { stepName: string; runId: string; status: RunStatus }[]
  /** Statuses of the children that the run waits for, by run id. */
  childStatuses: ReadonlyMap<string, RunStatus>
}

/** Returns the explanation for every status and every reason to wait. Undefined members are left out when it is serialised. */
export function runWhy(facts: Facts): RunExplanation {
  const { run, since, pass, position, blockedBy = [], started = [] } = facts
  const { live, stale, disconnected, without } = facts.runners
  const open = facts.steps.filter(step => !isSettled(step.status))
  const { waitingFor: waiting } = run
  const awaited = waiting && open.find(step => step.name === waiting.stepName)
  const children = childrenOf(open, facts.childStatuses)
  const warnings = [
    chainWarning(run.generation, facts.generationsMax),
    inRowWarning(run),
    facts.circle && circleWarning(facts.circle),
  ].filter(text => text !== undefined)
  return {
    runId: shownRunId(run.id),
    status: run.status,
    sentence: sentenceOf(facts, open) + engineText(facts),
    since: timestamp(since),
    waitingFor: waiting && waitingForText(waiting),
    wakeAt: optionalTimestamp(waitsForThrottle(run) ? nextStartAt(facts) : (facts.turns?.nextAt ?? wakeAt(run, open))),
    event:
      waiting?.kind === 'event' && waiting.eventName !== undefined
        ? {
            name: waiting.eventName,
            ...(awaited?.condition === undefined ? {} : { if: awaited.condition }),
            ...(awaited?.match === undefined ? {} : { match: awaited.match }),
          }
        : undefined,
    childRunId: waiting?.childRunId,
    startedBy: run.startedBy && { ...run.startedBy, runId: shownRunId(run.startedBy.runId) },
    deliveredTo: shownRunId(facts.deliveredTo),
    started: started.length === 0 ? undefined : started.map(each => ({ ...each, runId: shownRunId(each.runId) })),
    children: children.length === 0 ? undefined : children,
    position,
    blockedBy: blockedBy.length === 0 ? undefined : blockedBy.map(presentHolder),
    openSteps: open.length === 0 ? undefined : open.length,
    // Zeros are left out, since most runs have them.
    runners: isTerminal(run.status)
      ? undefined
      : { live, stale, disconnected: disconnected || undefined, without: without || undefined },
    missing: missingOf(facts),
    runner: pass?.runner ?? run.runner,
    passSince: optionalTimestamp(pass?.passSentAt),
    error: run.error ?? shownFailure(run),
    generation: run.generation || undefined,
    warnings: warnings.length === 0 ? undefined : warnings,
  }
}

function presentHolder({ runId, since }: { runId: string; since: number }) {
  return { runId: shownRunId(runId), since: timestamp(since) }
}

/** The open steps that wait for children, oldest first. */
export function awaitedChildren(steps: readonly Step[]): Step[] {
  return steps.filter(step => step.childRunId !== undefined && !isSettled(step.status)).slice(0, CHILDREN_SHOWN_MAX)
}

function childrenOf(open: readonly Step[], statuses: ReadonlyMap<string, RunStatus>) {
  return awaitedChildren(open).flatMap(({ name, childRunId }) => {
    const status = statuses.get(childRunId as string)
    return status === undefined ? [] : [{ stepName: name, runId: childRunId as string, status }]
  })
}

/** The workflow that no live runner serves, if the run waits for one. */
function missingOf({ run, runners }: Facts): RunExplanation['missing'] {
  const { app, workflow, runner } = run
  const isDue = run.waitingFor === undefined || run.waitingFor.kind === 'runner'
  const isMissing = run.status === 'queued' && isDue && runners.live === 0
  return isMissing ? { app, workflow, ...(runner === undefined ? {} : { runner }) } : undefined
}

/** When the run continues by itself; for a paused run, when its next timer is settled. */
function wakeAt(run: Run, open: readonly Step[]): number | undefined {
  if (isTerminal(run.status) || run.status === 'running') return undefined
  if (run.status !== 'paused') return run.waitingFor?.until
  return nextTimer(open)
}

/** When a run in a throttle's start queue may start. Only known for the first run, which is woken for the next start. */
function nextStartAt({ run, position, limitOfOperator }: Facts): number | undefined {
  if (limitOfOperator === 0) return undefined
  // With a fairness key, other keys may have earlier turns than the first run of this key.
  if (position === undefined || run.holds?.fairness) return run.waitingFor?.until
  return position === 0 ? firstStartAt(run) : undefined
}

function sentenceOf(facts: Facts, open: readonly Step[]): string {
  const { run, since, pass } = facts
  if (facts.bytesWithoutMemory !== undefined) return memorySentence(facts.bytesWithoutMemory)
  switch (run.status) {
    case 'queued':
      return queuedSentence(facts)
    case 'running':
      if (facts.isInRunnerQueue) return runnerRoomSentence(facts)
      return pass
        ? `Runner "${pass.runner}" has been working on it since ${timestamp(pass.passSentAt)}${runningStepText(facts)}.${triesText(run)}`
        : `It has been running since ${timestamp(since)}.`
    case 'waiting':
      return waitingSentence(run.waitingFor, facts, open)
    case 'paused':
      if (run.waitingFor?.kind === 'failure') return pausedForFailureSentence(facts, run.waitingFor)
      if (run.waitingFor?.kind === 'budget') return pausedForBudgetSentence(since, run.id, run.waitingFor)
      return `It was paused at ${timestamp(since)}. Until it is resumed, its timers and events still settle, but it is not sent to a runner.`
    case 'succeeded':
      return run.continuedAs === undefined
        ? `It succeeded ${afterText(facts)}.`
        : `It continued as run ${shownRunId(run.continuedAs)} ${afterText(facts)}.`
    case 'failed':
      return `It failed ${afterText(facts)}${run.error ? `: ${failureText(run.error)}` : '.'}`
    case 'cancelled':
      return run.startedAt === undefined
        ? `It was cancelled at ${timestamp(since)}, before it started.`
        : `It was cancelled ${afterText(facts)}.`
  }
}

function engineText({ run, isEngineHeld }: Facts): string {
  if (!isEngineHeld || isTerminal(run.status)) return ''
  return ' This engine is held: it starts and continues no run until it is released (perdure engine release).'
}

function afterText({ run, since }: Facts): string {
  return `after ${elapsedText(runDurationMs(run) ?? 0)}, at ${timestamp(since)}`
}

function runningStepText({ runningStep }: Facts): string {
  return runningStep === undefined ? '' : `, now on step "${runningStep}"`
}

function runnerRoomSentence({ run, runners, isInRunnerQueue }: Facts): string {
  const waits = isInRunnerQueue ? 'It is queued for a runner' : 'It waits for a runner'
  const whose = run.runner === undefined ? `the runners of app "${run.app}" are` : `its pin "${run.runner}" is`
  return `${waits}: ${whose} at capacity; there are ${runnersText(runners)}.`
}

function pausedForFailureSentence({ run, since, triesMax, steps }: Facts, { stepName, stepIds }: WaitingFor): string {
  const step = steps.find(({ id }) => id === stepIds?.[0])
  const tries = step
    ? `${spentText(step.attempt, 'attempt')} of step "${stepName}"`
    : `${spentText(triesMax, 'try')} of a pass`
  const why = run.lastFailure ? `: ${failureText(run.lastFailure)}` : ''
  return `It was paused at ${timestamp(since)} because ${tries} failed${why}. Resume it for new tries, or cancel it.`
}

function queuedSentence(facts: Facts): string {
  const { run, runners, position } = facts
  const { waitingFor } = run
  const whose = run.runner === undefined ? `app "${run.app}"` : `its pin "${run.runner}"`
  const known = `${whose} has ${runnersText(runners)}`
  const key = waitingFor?.key === undefined || waitingFor.key === '' ? '' : ` for key "${waitingFor.key}"`
  const before = position === undefined ? '' : `; ${aheadText(position)}${turnsText(run)}`
  switch (waitingFor?.kind) {
    case 'runner':
      if (waitingFor.until === undefined) return runnerRoomSentence(facts)
      if (waitingFor.isForTurn) return turnSentence(waitingFor)
      return `${heldSentence(facts)}${lastFailureText(facts)} The run is tried again ${by(waitingFor)}, and as soon as such a runner registers.`
    case 'concurrency':
      return limitSentence(facts, `concurrency limit${key}`, ` until ${holderText(facts)} ends`, before)
    case 'workflow-paused':
      return `Its workflow "${run.workflow}" is paused. The run starts when the workflow is resumed.`
    case 'throttle':
      return limitSentence(facts, `throttle${key}`, nextStartText(nextStartAt(facts)), before)
    case 'sleep':
      return `It was started with a delay, and starts at ${optionalTimestamp(waitingFor.until)}.`
    case undefined:
    case 'event':
    case 'signal':
    case 'callback':
    case 'run':
    case 'child':
    case 'retry':
    case 'limit':
    case 'failure':
    case 'budget':
      if (runners.live === 0)
        return `It is due, but no runner can take it. ${heldSentence(facts)} The run starts as soon as such a runner registers.`
      return `It is due and starts as soon as the engine has room; ${known}.`
  }
}

/** The run that keeps the slot, if it is the only holder. */
function holderText({ run, blockedBy = [] }: Facts): string {
  const slot = run.holds?.slots?.find(({ id }) => id === run.waitsForSlot)
  const [holder, ...others] = blockedBy
  return slot?.kept && holder && others.length === 0
    ? `run ${shownRunId(holder.runId)}, which keeps its slot,`
    : 'another run'
}

function turnsText({ holds }: Run): string {
  return holds?.fairness ? ` among the runs of its fairness key "${holds.fairness.key}", and the keys take turns` : ''
}

/** How many runs are ahead in its queue. */
function aheadText(position: number): string {
  if (position === 0) return 'it is next in the queue'
  return position === 1 ? '1 run is ahead of it' : `${position} runs are ahead of it`
}

function memorySentence(bytes: number): string {
  const size = `${(bytes / 1_000_000).toFixed(1)} MB`
  return `It is due but waits for memory: its state of ${size} does not fit next to the runs in progress on this engine. It continues when one of them ends or waits. A larger heap (--max-old-space-size) or another engine makes room for more.`
}

function lastFailureText({ lastFailure }: Facts): string {
  if (lastFailure === undefined) return ''
  const { runnerId, at, message } = lastFailure
  return ` Runner "${runnerId}" at ${timestamp(at)}: ${message.replace(/\.$/, '')}.`
}

/** States what the run lacks: a runner that serves its workflow, or one that can be reached. */
function heldSentence({ run, runners }: Facts): string {
  const { live, stale, disconnected, without } = runners
  const whose = run.runner === undefined ? `app "${run.app}"` : `its pin "${run.runner}" of app "${run.app}"`
  const others = without === 0 ? '' : `, and ${without} without it`
  if (run.cleanupOf !== undefined && live + stale + disconnected === 0) return noCleanupRunner(run)
  if (live + stale + disconnected > 0)
    return `No runner could be reached: ${whose} has ${runnersText(runners)} with workflow "${run.workflow}"${others}.`
  if (run.runner !== undefined)
    return `Its pin, runner "${run.runner}" of app "${run.app}", has no workflow "${run.workflow}".`
  const registered =
    without === 0 ? 'none is registered' : `${without} ${without === 1 ? 'is' : 'are'} registered without it`
  return `No runner of app "${run.app}" has workflow "${run.workflow}": ${registered}.`
}

/** The case of runners that serve the workflow but may lack the feature. */
function noCleanupRunner({ app, workflow, runner, cleanupOf }: Run): string {
  const none =
    runner === undefined
      ? `No runner of app "${app}" has workflow "${workflow}" and supports cleanup runs`
      : `Its pin, runner "${runner}" of app "${app}", does not have workflow "${workflow}" with support for cleanup runs`
  return `${none}: this run cleans up after run ${shownRunId(cleanupOf as string)}.`
}

function waitingSentence(waiting: WaitingFor | undefined, facts: Facts, open: readonly Step[]): string {
  const others = open.filter(step => step.name !== waiting?.stepName).length
  const further = others === 0 ? '' : ` ${others} more of its steps ${others === 1 ? 'is' : 'are'} open.`
  const more = further + settledText(facts)
  const step = waiting?.stepName === undefined ? 'It' : `Step "${waiting.stepName}"`
  switch (waiting?.kind) {
    case 'sleep':
      return `${step} sleeps until ${optionalTimestamp(waiting.until) ?? 'it is woken'}.${more}`
    case 'event':
      return `${step} waits for event "${waiting.eventName}", ${deadlineText(waiting)}.${faultText(facts.waitFault)}${more}`
    case 'signal':
      return `${step} waits for signal "${waiting.signal}", ${deadlineText(waiting)}.${more}`
    case 'callback':
      return `${step} waits for its callback, ${deadlineText(waiting)}.${more}`
    case 'run': {
      const status = facts.childStatuses.get(waiting.runId ?? '')
      return `${step} waits for the end of run ${waiting.runId}${status ? `, which is ${status}` : ''}, ${deadlineText(waiting)}.${more}`
    }
    case 'child': {
      const status = facts.childStatuses.get(waiting.childRunId ?? '')
      return `${step} waits for run ${waiting.childRunId}${status ? `, which is ${status}` : ''}.${more}`
    }
    case 'retry':
      return waiting.stepName === undefined
        ? passSentence(facts, waiting, more)
        : `${step} failed${triesOf(waiting)} and is tried again ${by(waiting)}.${more}`
    case 'limit':
      return `${step} waits for ${turnText(waiting, facts.turns)}.${more}`
    case 'runner':
      return `${step} waits until a runner registers ${childText(waiting, open)}${more}`
    case undefined:
    case 'concurrency':
    case 'throttle':
    case 'workflow-paused':
    case 'failure':
    case 'budget':
      return `It waits${waiting ? ` for ${waiting.kind}` : ''}.${more}`
  }
}

/** Parallel steps, races and handlers that await something other than steps look the same here. */
function settledText({ settledLast }: Facts): string {
  if (settledLast === undefined) return ''
  return ` The handler has called no step since step "${settledLast}" ended: it awaits an open step or, after a race, something outside steps. In the second case, if its process has ended or was frozen, the run continues only when an open step settles. Put I/O into a step.`
}

/** The newest of the settled steps, if it settled after every open one was stored. */
export function settledLast(open: readonly Step[], settled: readonly Step[]): Step | undefined {
  let newest: Step | undefined
  for (const step of settled) if (newest === undefined || step.seq > newest.seq) newest = step
  return newest !== undefined && open.every(({ seq }) => seq < (newest as Step).seq) ? newest : undefined
}

/** The workflow of a child that no runner has registered, and when the step fails for that reason. */
function childText({ stepName }: WaitingFor, open: readonly Step[]): string {
  const childStart = open.find(({ name }) => name === stepName)?.childStart
  if (!childStart) return 'the workflow of its child.'
  const { workflow, app, until } = childStart
  const of = app === undefined ? '' : ` of app "${app}"`
  return `workflow "${workflow}"${of}: no runner has it. The step fails at ${timestamp(until)} (ENGINE_CHILD_GRACE).`
}

function triesOf({ attempt, maxAttempts }: WaitingFor): string {
  return maxAttempts === undefined ? '' : ` (attempt ${attempt} of ${maxAttempts})`
}

function passSentence({ run, triesMax }: Facts, waiting: WaitingFor, more: string): string {
  const { transportTries, lastFailure } = run
  if (waiting.isForTurn) return `${turnSentence(waiting)}${more}`
  const tries = transportTries === 0 ? '(it does not count as a try)' : `(try ${transportTries} of ${triesMax})`
  const repeated = `It is repeated ${by(waiting)}.${more}`
  if (lastFailure?.code === 'handler_failed')
    return `The handler threw an error in the last pass ${tries}. ${repeated} The error: ${waiting.error}`
  if (waiting.error === undefined) return `The last pass failed. ${repeated}`
  return `The last pass failed ${tries}. ${repeated} The error: ${waiting.error}`
}

function turnSentence(waiting: WaitingFor): string {
  return `${waiting.error} It is tried again ${by(waiting)}.`
}

function triesText({ transportTries }: Run): string {
  if (transportTries === 0) return ''
  return ` ${transportTries} ${transportTries === 1 ? 'try' : 'tries'} before this one failed.`
}

function runnersText({ live, stale, disconnected }: Facts['runners']): string {
  if (disconnected === 0) return `${live} live and ${stale} stale runners`
  return `${live} live, ${stale} stale and ${disconnected} disconnected runners`
}
