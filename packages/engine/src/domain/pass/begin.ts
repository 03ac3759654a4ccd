// Decides what a freshly leased run does. It ends if a cancel was requested or its time is over. Otherwise its due timers are
// settled, and then it goes to a runner, is held without one, or fails because its pin is not registered. Also decides how a
// lease is given back. Called by services/pass.

import type { ChildContext } from '../arrival/child/child-start.ts'
import { onlyWaitsForChildren, startWaiting } from '../arrival/child/waiting-starts.ts'
import { HELD_RECHECK_MS } from '../holds/concurrency.ts'
import { type Start, throttleToPass } from '../holds/throttle.ts'
import { timedOut } from '../holds/timeouts.ts'
import type { CatalogView } from '../model/catalog.ts'
import type { Decision, Next, PassDecision } from '../model/decision.ts'
import type { ThrottleHold } from '../model/flow-control.ts'
import type { Run } from '../model/run.ts'
import { passMayAnswer } from '../run/cleanup/late-window.ts'
import { Draft } from '../run/draft.ts'
import { type End, finish } from '../run/finish.ts'
import { holdMs } from '../run/retry.ts'
import type { RunState } from '../run/state.ts'
import { shownRunId } from '../text/ids.ts'
import { keepTurns, leaveTurns, loseTurns, park, settleDue, takeTurns } from './park.ts'
import type { Route } from './routing.ts'

export interface BeginContext extends ChildContext {
  now: number
  route: Route
  /** The answer of the run's throttle, if it was queried. */
  start?: Start | undefined
}

/** Decides the first pass of a lease. With `next: 'pass'` the run is `running`. */
export function begin(state: RunState, context: BeginContext): PassDecision {
  const draft = new Draft(state, context.now)
  // These turns belonged to a pass of an earlier lease.
  loseTurns(draft)
  const next = start(draft, context)
  return { decision: draft.done(), next }
}

function start(draft: Draft, context: BeginContext): Next {
  const { route, catalog, start } = context
  const end = (how: End): Next => {
    // The run was already running before this lease: a pass of an earlier lease may still be under way.
    finish(draft, how, catalog, { mayAnswer: passMayAnswer(draft.run, catalog) })
    return 'stop'
  }
  if (draft.run.cancelRequested) return end({ status: 'cancelled' })
  const timeout = timedOut(draft.run, draft.now)
  if (timeout) return end({ status: 'failed', error: timeout })
  settleDue(draft, context.assumptions)
  if (draft.run.status === 'paused') {
    park(draft, draft.now)
    return 'stop'
  }
  if (isPaused(draft.run, catalog)) {
    const { namespace, app, workflow } = draft.run
    // A resume that is committed before the hold has not seen the run as held: then the hold is decided again.
    draft.guards.push({ type: 'paused', namespace, app, workflow })
    draft.move('queued')
    const availableAt = draft.now + HELD_RECHECK_MS
    draft.set({ availableAt, leaseOwner: undefined, waitingFor: { kind: 'workflow-paused' } })
    return 'stop'
  }
  if (startsLater(draft.run, draft.now)) {
    const { startAt: until = draft.now } = draft.run
    draft.move('queued')
    draft.set({ availableAt: until, leaseOwner: undefined, waitingFor: { kind: 'sleep', until } })
    return 'stop'
  }
  if (waitsForChild(draft)) {
    // A run that another cause has woken is queued.
    const isParked = draft.run.status === 'waiting'
    startWaiting(draft, context)
    if (draft.run.cancelRequested) return end({ status: 'cancelled' })
    if (isParked && onlyWaitsForChildren(draft) && park(draft, draft.now)) return 'stop'
  }
  switch (route.kind) {
    case 'pinMissing': {
      const message = `The run is pinned to runner "${draft.run.runner}", which is not registered.`
      return end({ status: 'failed', error: { message, code: 'runner_not_registered' } })
    }
    case 'none':
      leaveTurns(draft)
      draft.move('queued')
      hold(draft)
      return 'stop'
    case 'runner':
      return startPass(draft, start)
  }
}

function waitsForChild({ open }: Draft): boolean {
  for (const { childStart } of open.values()) if (childStart) return true
  return false
}

/** Whether the start of the run has a delay: something woke the run before its time. */
function startsLater({ startedAt, startAt = 0 }: Run, now: number): boolean {
  return startedAt === undefined && now < startAt
}

/** Whether the run's workflow is paused and the run has not started. */
function isPaused({ startedAt, app, workflow }: Run, catalog: CatalogView): boolean {
  return startedAt === undefined && catalog.isPaused(app, workflow)
}

/** Starts the pass on a runner, unless the run must wait for its slots or for its throttle first. */
function startPass(draft: Draft, start: Start | undefined): Next {
  // A due parked run is queued before it runs. The same holds for a run whose lease ran out.
  draft.move('queued')
  if (draft.run.leasedWithoutSlots) {
    // The run was leased without its slots while it was paused, and has been resumed since. The next claim takes the slots.
    draft.set({ availableAt: draft.now, leaseOwner: undefined })
    return 'stop'
  }
  const throttle = throttleToPass(draft.run, draft.now)
  if (throttle && !start?.taken) {
    holdForThrottle(draft, throttle, start)
    return 'stop'
  }
  draft.set({ waitingFor: undefined, startQueue: undefined })
  takeTurns(draft)
  draft.move('running')
  draft.start = start
  return 'pass'
}

/** Parks the run in the start queue of its throttle. If it has a slot, another run gets that. */
function holdForThrottle(draft: Draft, throttle: ThrottleHold, start: Start | undefined): void {
  if (!start) {
    // The throttle was not queried because the run could not start then, and it can now: the next lease queries it.
    draft.set({ availableAt: draft.now, leaseOwner: undefined })
    return
  }
  const { key } = throttle
  const until = start.limit === 0 ? undefined : Math.max(draft.now, Math.ceil(start.freeAt))
  const waitingFor = { kind: 'throttle', key, ...(until === undefined ? {} : { until }) } as const
  draft.set({ availableAt: draft.now + HELD_RECHECK_MS, leaseOwner: undefined, waitingFor })
  draft.start = start
}

/** Fails a cleanup run because the run that it follows is gone, which only happens to a fork of a cleanup run. */
export function failCleanup(state: RunState, { now, catalog }: { now: number; catalog: CatalogView }): PassDecision {
  const draft = new Draft(state, now)
  const message = `Run ${shownRunId(draft.run.cleanupOf)}, which this run cleans up after, no longer exists.`
  finish(draft, { status: 'failed', error: { message } }, catalog)
  return { decision: draft.done(), next: 'stop' }
}

/**
 * Makes the run wait because no runner has room: `queued`, due and without a lease, until a claim finds room. `wasRefused`: its
 * pass began, but was not sent.
 */
export function waitForRunnerRoom(state: RunState, now: number, { wasRefused = false } = {}): Decision {
  const draft = new Draft(state, now)
  if (wasRefused) keepTurns(draft)
  if (draft.run.status === 'paused') park(draft, now)
  else {
    draft.move('queued')
    // A run that has not started keeps its place among the waiting runs.
    const { startedAt, createdAt } = draft.run
    const availableAt = startedAt === undefined ? createdAt : now
    draft.set({ availableAt, leaseOwner: undefined, waitingFor: { kind: 'runner' } })
  }
  return draft.done()
}

/** Holds the run because no runner could be reached: it stays queued, spends no attempt, and is tried again later. */
export function holdForRunner(state: RunState, now: number): Decision {
  const draft = new Draft(state, now)
  leaveTurns(draft)
  if (draft.run.status === 'paused') park(draft, now)
  else {
    draft.move('queued')
    hold(draft)
  }
  return draft.done()
}

/** Makes the run wait because other suspects are tried first (answer/suspicion.ts): it stays unchanged and spends nothing. */
export function waitForTurn(state: RunState, now: number, waitMs: number): Decision {
  const draft = new Draft(state, now)
  const until = now + waitMs
  const kind = draft.run.status === 'queued' ? 'runner' : 'retry'
  const waitingFor = { kind, until, error: FOR_TURN, isForTurn: true } as const
  draft.set({ availableAt: until, leaseOwner: undefined, waitingFor })
  return draft.done()
}

const FOR_TURN =
  'It waits for its turn: passes that were lost together are retried one at a time, to find the pass that ends the process of the runner.'

/**
 * Gives the lease back between passes, at a shutdown: the run is queued, available at once, and spends no attempt. `wasSent`:
 * its pass was interrupted.
 */
export function giveBack(state: RunState, now: number, { wasSent = false } = {}): Decision {
  const draft = new Draft(state, now)
  if (wasSent) loseTurns(draft)
  else keepTurns(draft)
  if (draft.run.status === 'paused') park(draft, now)
  else {
    draft.set({ availableAt: now, leaseOwner: undefined })
    draft.move('queued')
  }
  return draft.done()
}

function hold(draft: Draft): void {
  // The suspect's runner existed when the pass was lost, and is probably back soon.
  const { createdAt, lastFailure } = draft.run
  const until = draft.now + holdMs(draft.now - (lastFailure?.suspicion?.lostAt ?? createdAt))
  draft.set({ availableAt: until, leaseOwner: undefined, waitingFor: { kind: 'runner', until } })
}
