// Decides the consequences of the outcome of a pass: the steps it reported, the end of the run, a repeat, or a park
// (docs/state-machine.md#run). Called by services/pass/pass-loop, and again with fresh state when the commit lost a race.

import { cutText, type RunError, STEPS_MAX } from '@perdure/protocol'
import { timedOut } from '../holds/timeouts.ts'
import type { CatalogView } from '../model/catalog.ts'
import type { Next, PassDecision } from '../model/decision.ts'
import type { Run, Suspicion } from '../model/run.ts'
import type { Step } from '../model/step.ts'
import { Draft } from '../run/draft.ts'
import { pauseForFailure, pausesWhenExhausted, spentStep } from '../run/exhausted.ts'
import { type End, finish, takenEvents } from '../run/finish.ts'
import { attemptsMax, isFinalError, PASS_TRIES_DEFAULT, transportBackoffMs } from '../run/retry.ts'
import { isDue, type RunState } from '../run/state.ts'
import { frameError } from '../view/timeline-frames.ts'
import type { Outcome, Reported } from './answer/outcome.ts'
import { freeLoss } from './answer/suspicion.ts'
import { applyLate, applyOpcodes } from './apply-opcodes.ts'
import { changeAttributes } from './attributes.ts'
import { keepLogs } from './logs.ts'
import type { PassContext } from './opcodes/context.ts'
import type { Given, PassOpcode } from './opcodes/opcode.ts'
import { OPCODES } from './opcodes/registry.ts'
import { loseTurns, park, settleDue, takeTurns } from './park.ts'
import { storeDueProgress, storeProgress } from './progress.ts'

/** Maximum size of a run's stored state (docs/limits.md#bounds). */
export const STATE_BYTES_MAX = 32 * 1024 * 1024

/** Maximum length of the reason why a pass is repeated, as `waitingFor` shows it. */
const REASON_CHARS_MAX = 500

export function advance(state: RunState, outcome: Outcome, context: PassContext): PassDecision {
  const draft = new Draft(state, context.now)
  draft.pass = context.sent
  draft.isPassOver = true
  if (state.run.inbox !== undefined) draft.knew = context.knowledge.seq
  const next = decideNext(draft, state, outcome, context)
  if (typeof next === 'object') {
    const { logs, progress } = outcome
    return advance(state, { kind: 'rejected', error: next.refusal, logs, ...(progress && { progress }) }, context)
  }
  const progress = outcome.progress ?? context.pendingProgress
  if (next === 'stop') storeProgress(draft, progress)
  else storeDueProgress(draft, progress)
  return { decision: draft.done(), next }
}

/** The answer exceeds a limit: nothing of it is stored, and the run fails. */
interface Refused {
  refusal: RunError
}

function decideNext(draft: Draft, state: RunState, outcome: Outcome, context: PassContext): Next | Refused {
  const end = (how: End): Next => {
    if (how.status !== 'cancelled') storeProgress(draft, outcome.progress ?? context.pendingProgress)
    finish(draft, how, context.catalog, { given: givenEvents(state, outcome, context) })
    return 'stop'
  }
  const fail = (error: RunError) => end({ status: 'failed', error })
  const pauses = () => pausesWhenExhausted(draft.run, context.catalog)
  const pause = (error: RunError, spent?: Step): Next => {
    pauseForFailure(draft, error, spent)
    park(draft, context.sentAt)
    return 'stop'
  }
  // The cancel was requested during the pass: of the late answer, only steps that must be undone count.
  if (draft.run.cancelRequested) {
    if ('opcodes' in outcome && outcome.opcodes) applyLate(draft, state, outcome.opcodes, context)
    return end({ status: 'cancelled' })
  }
  keepLogs(draft, state, outcome, context)
  switch (outcome.kind) {
    case 'returned': {
      if (outcome.opcodes) {
        const how = endWithSteps(draft, state, { ...outcome, opcodes: outcome.opcodes }, context)
        if (how === 'again') return continueOrPark(draft, context) ?? fail(STUCK)
        return 'refusal' in how ? how : end(how)
      }
      const error = changeAttributes(draft, outcome.attributes)
      return error ? fail(error) : end(returnedEnd(outcome, state, context))
    }
    case 'rejected': {
      const error = withKnownStep(state, outcome.error)
      const spent = error.code === 'step_failed' && pauses() ? spentStep(state, error) : undefined
      return spent ? pause(error, spent) : fail(error)
    }
    case 'transportFailed': {
      loseTurns(draft)
      const timeout = timedOut(draft.run, context.now)
      if (timeout) return fail(timeout)
      if (isFinalForHandler(draft.run, outcome.error, context.catalog)) return fail(outcome.error)
      const failed = failedPass(draft.run, outcome, context.catalog)
      if (failed.tries < failed.triesMax) return repeatLater(draft, failed, context)
      draft.set({ transportTries: failed.tries })
      return pauses() ? pause(failed.error) : fail(failed.error)
    }
    case 'opcodes': {
      restoreTries(draft)
      const how = applyReported(draft, state, outcome, context)
      return how ? end(how) : (continueOrPark(draft, context) ?? fail(STUCK))
    }
  }
}

/**
 * Drafts the last steps of a run, before its end. Returns the end. Returns `again` if the engine refused an event or a webhook
 * whose success the handler assumed: the steps count, and the handler sees the error in another pass.
 */
function endWithSteps(
  draft: Draft,
  state: RunState,
  outcome: Returned & { opcodes: PassOpcode[] },
  context: PassContext,
): End | Refused | 'again' {
  const { opcodes, attributes } = outcome
  const refusal = changeAttributes(draft, attributes)
  if (refusal) return { refusal }
  const failed = applyOpcodes(draft, state, opcodes, context)
  const limit = overLimit(draft, state)
  if (limit) return { refusal: limit }
  // The run may have emitted an event that cancels it.
  if (draft.run.cancelRequested) return { status: 'cancelled' }
  if (failed) return { status: 'failed', error: failed }
  if (!draft.steps.some(({ op, status }) => status === 'failed' && !OPCODES[op].runsOnRunner))
    return returnedEnd(outcome, state, context)
  restoreTries(draft)
  const timeout = timedOut(draft.run, context.now)
  return timeout ? { status: 'failed', error: timeout } : 'again'
}

/**
 * The events that the handler was given, if the outcome shows that it knows the steps of its pass. Undefined if the runner may
 * never have received them.
 */
function givenEvents(state: RunState, outcome: Outcome, { knowledge }: PassContext): ReadonlySet<string> | undefined {
  if (outcome.kind === 'transportFailed' && outcome.error.code !== 'handler_failed') return undefined
  const { given } = outcome.kind === 'returned' ? (outcome.continueAs ?? outcome) : {}
  const { settled, except = [] }: Given = given ?? knowledge
  return takenEvents(state, settled, except)
}

type Returned = Extract<Outcome, { kind: 'returned' }>

function returnedEnd({ data, continueAs }: Returned, state: RunState, { report, knowledge }: PassContext): End {
  if (continueAs) {
    const { data, given = knowledge } = continueAs
    return { status: 'succeeded', continueAs: { data, report, ungiven: ungivenSignals(state, given) } }
  }
  return { status: 'succeeded', ...(data !== undefined && { result: data }) }
}

/** The signals that settled waits but were not given to the handler: the next run of the chain can take them. */
function ungivenSignals(state: RunState, { settled, except = [] }: Given): string[] {
  if (!state.run.signalled) return []
  const given = state.eventsAmong(settled)
  return [...state.steps.values()].flatMap(({ op, eventId }) => {
    if (op !== 'WaitForSignal' || eventId === undefined) return []
    return given.has(eventId) && !except.includes(eventId) ? [] : eventId
  })
}

/** The error without its `stepName`, unless the runner knows a failed step of that name. */
function withKnownStep({ steps }: RunState, error: RunError): RunError {
  const { stepName, ...rest } = error
  if (stepName === undefined) return error
  return [...steps.values()].some(({ name, status }) => name === stepName && status === 'failed') ? error : rest
}

/** Drafts the steps that a runner reported. Returns how the run ends, if they end it. */
export function applyReported(
  draft: Draft,
  state: RunState,
  { opcodes, attributes }: Pick<Extract<Reported, { kind: 'opcodes' }>, 'opcodes' | 'attributes'>,
  context: PassContext,
): End | undefined {
  const failed = changeAttributes(draft, attributes) ?? applyOpcodes(draft, state, opcodes, context)
  // The run may have emitted an event that cancels it.
  if (draft.run.cancelRequested) return { status: 'cancelled' }
  const error = failed ?? overLimit(draft, state) ?? timedOut(draft.run, context.now)
  return error && { status: 'failed', error }
}

/** Resets the count of tries, because the runner has answered. */
export function restoreTries(draft: Draft): void {
  if (draft.run.transportTries > 0 || draft.run.lastFailure?.suspicion)
    draft.set({ transportTries: 0, lastFailure: undefined })
}

/**
 * Maximum tries of a pass of the run that failed with `error`, in its handler and its transport together. The retry policy says
 * how often code may be repeated, so it applies to a handler that throws; a broken connection has a separate maximum.
 */
export function triesOf(
  { app, workflow }: Pick<Run, 'app' | 'workflow'>,
  error: Pick<RunError, 'code'> | undefined,
  catalog: CatalogView,
): number {
  const { handlerRetries, retry } = catalog.workflow(app, workflow) ?? {}
  if (handlerRetries !== undefined) return handlerRetries
  return retry?.setsAttempts && error?.code === 'handler_failed' ? attemptsMax(retry) : PASS_TRIES_DEFAULT
}

/** Whether the run fails if its handler throws in the next pass. */
export function failsWithNextError(run: Run, catalog: CatalogView): boolean {
  const isLast = run.transportTries + 1 >= triesOf(run, { code: 'handler_failed' }, catalog)
  return isLast && !pausesWhenExhausted(run, catalog)
}

/** Whether the retry policy of the workflow names the error that the handler threw. */
function isFinalForHandler({ app, workflow }: Run, error: RunError, catalog: CatalogView): boolean {
  const { retry } = catalog.workflow(app, workflow) ?? {}
  return retry !== undefined && error.code === 'handler_failed' && isFinalError(retry, error)
}

/** A pass that failed, as its run counts it. */
interface FailedPass {
  tries: number
  triesMax: number
  error: RunError
  suspicion: Omit<Suspicion, 'lostAt'> | undefined
  /** How many other passes were lost with it, if it spent no try for that reason. */
  others: number
}

/**
 * Counts the pass. If the workflow allows no repeat of a pass, a lost one is not repeated either, even when no try would be
 * spent.
 */
function failedPass(
  run: Readonly<Run>,
  { error, loss }: Extract<Outcome, { kind: 'transportFailed' }>,
  catalog: CatalogView,
): FailedPass {
  const triesMax = triesOf(run, error, catalog)
  const earlier = loss && run.lastFailure?.suspicion
  const free = loss && triesMax > 1 ? freeLoss(earlier, loss) : undefined
  if (loss && free) return { tries: run.transportTries, triesMax, error, suspicion: free, others: loss.together - 1 }
  const tries = run.transportTries + 1
  const isLast = loss !== undefined && tries >= triesMax
  return {
    tries,
    triesMax,
    error: isLast ? { ...error, message: `${error.message}. ${ENDED_PROCESS}` } : error,
    suspicion: earlier,
    others: 0,
  }
}

const ENDED_PROCESS =
  'The connection ended during the pass. A step that ends its process or exhausts its memory can cause this. See the log of the runner.'

/** Repeats a pass that failed after a backoff. Nothing else about the run changes. */
function repeatLater(draft: Draft, { tries, error, suspicion, others }: FailedPass, context: PassContext): Next {
  const until = context.now + transportBackoffMs(tries + (suspicion?.losses ?? 0), context.random())
  const shown = frameError(error)
  const lastFailure = suspicion ? { ...shown, suspicion: { ...suspicion, lostAt: context.now } } : shown
  draft.set({ transportTries: tries, lastFailure, attempt: context.sentAttempt + 1, leaseOwner: undefined })
  if (draft.run.status === 'paused') {
    park(draft, context.sentAt)
    return 'stop'
  }
  const reason = others > 0 ? `${shortened(error.message)} (${lostTogether(others)})` : shortened(error.message)
  draft.set({ availableAt: until, waitingFor: { kind: 'retry', until, error: reason } })
  draft.move('waiting', shown)
  return 'stop'
}

function lostTogether(others: number): string {
  return `lost together with ${others} other ${others === 1 ? 'pass' : 'passes'} of the runner, so it does not count as a try`
}

function shortened(message: string): string {
  return cutText(message, REASON_CHARS_MAX, '…')
}

/**
 * After opcodes: sends the next pass at once if the runner does not know all settled steps, if a retry became due during
 * the pass, or if the pass was requested to stop; parks the run otherwise. Undefined when nothing will wake the run.
 */
function continueOrPark(draft: Draft, context: PassContext): Next | undefined {
  settleDue(draft, context.assumptions)
  loseTurns(draft)
  if (draft.run.status === 'paused') {
    park(draft, context.sentAt)
    return 'stop'
  }
  const hasTurns = takeTurns(draft)
  const settledNow = draft.nextIndex - draft.open.size
  const becameDue = [...draft.open.values()].some(open => isDue(open, context.now) && !isDue(open, context.sentAt))
  const { settled, stopRequested, wasSentSettled } = context.knowledge
  const hasMore = settledNow > settled || becameDue || hasTurns || stopRequested
  if (!hasMore && park(draft, context.sentAt)) return 'stop'
  if (!hasMore && !wasSentSettled) return undefined
  // A pause and a resume during the pass leave the run queued although its owner still holds it.
  draft.move('running')
  return 'pass'
}

const STUCK: RunError = {
  message: 'The runner reported no new step, although nothing is pending: the run could never continue.',
  code: 'invalid_response',
}

function overLimit(draft: Draft, state: RunState): RunError | undefined {
  if (draft.nextIndex > STEPS_MAX) {
    return { message: `The run has more than ${STEPS_MAX} steps.`, code: 'limit_exceeded' }
  }
  let bytes = state.size
  for (const changed of draft.steps) bytes += changed.data?.length ?? 0
  if (bytes <= STATE_BYTES_MAX) return undefined
  return {
    message: `The run's stored state is larger than ${STATE_BYTES_MAX} bytes.`,
    code: 'limit_exceeded',
  }
}
