// The heart: from a run, the outcome of its pass and the time to the changes that follow (contract §2.11 "the
// service rules", §3). Pure: called once per pass by services/pass/pass-loop, again with fresh state when it lost a race.

import type { RunError } from '@perdure/protocol'
import { timedOut } from '../holds/timeouts.ts'
import type { Decision, Next } from '../model/decision.ts'
import { Draft } from '../run/draft.ts'
import { type End, finish } from '../run/finish.ts'
import { TRANSPORT_TRIES_MAX, transportBackoffMs } from '../run/retry.ts'
import { isDue, type RunState } from '../run/state.ts'
import { keepLogs } from './logs.ts'
import { applyOpcodes } from './opcodes/apply.ts'
import type { PassContext } from './opcodes/context.ts'
import type { PassOpcode } from './opcodes/opcode.ts'
import type { Outcome } from './outcome.ts'
import { park, settleDue } from './park.ts'

/** Most steps of one run, and most bytes of its stored state (decisions, "Errors, limits, auth"). */
export const STEPS_MAX = 10_000
export const STATE_BYTES_MAX = 32 * 1024 * 1024

/** Most of what is kept of why a pass came to nothing. */
const ERROR_CHARACTERS_MAX = 500

export function advance(
  state: RunState,
  outcome: Outcome,
  context: PassContext,
): { decision: Decision; next: Next } {
  const draft = new Draft(state, context.now)
  if (draft.run.cancelRequested) {
    // Asked for while the pass was in flight: as with any cancel, its late answer is dropped.
    finish(draft, { status: 'cancelled' }, context.catalog)
    return { decision: draft.done(), next: 'stop' }
  }
  keepLogs(draft, state, outcome, context)
  const next = decideNext(draft, state, outcome, context)
  return { decision: draft.done(), next }
}

function decideNext(draft: Draft, state: RunState, outcome: Outcome, context: PassContext): Next {
  const fail = (error: RunError): Next => {
    finish(draft, { status: 'failed', error }, context.catalog)
    return 'stop'
  }
  switch (outcome.kind) {
    case 'returned':
      finish(
        draft,
        { status: 'succeeded', ...(outcome.data === undefined ? {} : { result: outcome.data }) },
        context.catalog,
      )
      return 'stop'
    case 'rejected':
      return fail(outcome.error)
    case 'transportFailed': {
      const timeout = timedOut(draft.run, context.now)
      if (timeout) return fail(timeout)
      const tries = draft.run.transportTries + 1
      if (tries >= TRANSPORT_TRIES_MAX) return fail({ ...outcome.error, code: 'runner_unreachable' })
      return repeatLater(draft, { tries, error: outcome.error.message }, context)
    }
    case 'opcodes': {
      const end = applyReported(draft, state, outcome.opcodes, context)
      if (!end) return continueOrPark(draft, context) ?? fail(STUCK)
      finish(draft, end, context.catalog)
      return 'stop'
    }
  }
}

/** Drafts the steps that a runner reported; answers how the run ends with them, if it does. */
export function applyReported(
  draft: Draft,
  state: RunState,
  opcodes: readonly PassOpcode[],
  context: PassContext,
): End | undefined {
  if (draft.run.transportTries > 0) draft.set({ transportTries: 0 })
  const failed = applyOpcodes(draft, state, opcodes, context)
  // An event that the run itself emitted cancels it.
  if (draft.run.cancelRequested) return { status: 'cancelled' }
  const error = failed ?? overLimit(draft, state) ?? timedOut(draft.run, context.now)
  return error && { status: 'failed', error }
}

/** A pass whose transport failed is repeated after a backoff; nothing else about the run changes. */
function repeatLater(
  draft: Draft,
  { tries, error }: { tries: number; error: string },
  context: PassContext,
): Next {
  const until = context.now + transportBackoffMs(tries, context.random())
  draft.set({ transportTries: tries, attempt: context.sentAttempt + 1, leaseOwner: undefined })
  if (draft.run.status === 'paused') {
    park(draft, context.sentAt)
    return 'stop'
  }
  draft.set({ availableAt: until, waitingFor: { kind: 'retry', until, error: shortened(error) } })
  draft.move('waiting')
  return 'stop'
}

function shortened(error: string): string {
  return error.length > ERROR_CHARACTERS_MAX ? `${error.slice(0, ERROR_CHARACTERS_MAX)}…` : error
}

/**
 * After opcodes: at once again when there is something that the runner was not told of, or that it was kept from, else
 * parked; undefined when nothing will wake the run.
 */
function continueOrPark(draft: Draft, context: PassContext): Next | undefined {
  settleDue(draft)
  if (draft.run.status === 'paused') {
    park(draft, context.sentAt)
    return 'stop'
  }
  const settledNow = draft.nextIndex - draft.open.size
  const becameDue = [...draft.open.values()].some(
    open => isDue(open, context.now) && !isDue(open, context.sentAt),
  )
  const { knowledge: told } = context
  const hasMore = settledNow > told.settled || becameDue || told.stopRequested
  if (!hasMore && park(draft, context.sentAt)) return 'stop'
  if (!hasMore && !told.wasSentSettled) return undefined
  // A pause and a resume during the pass leave the run queued although its owner still holds it.
  draft.move('running')
  return 'pass'
}

const STUCK: RunError = {
  message: 'The runner reported no new step, although nothing is pending: the run could never go on.',
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
