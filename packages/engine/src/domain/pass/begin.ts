// What a freshly leased run does first: it is cancelled if that was asked, its timers are settled, and then it goes
// to a runner, is held for want of one, or fails because the runner it is pinned to does not exist.

import { HELD_RECHECK_MS } from '../holds/concurrency.ts'
import { type Start, throttleToPass } from '../holds/throttle.ts'
import { timedOut } from '../holds/timeouts.ts'
import type { CatalogView } from '../model/catalog.ts'
import type { Decision, Next } from '../model/decision.ts'
import type { ThrottleHold } from '../model/holds.ts'
import { Draft } from '../run/draft.ts'
import { finish } from '../run/finish.ts'
import { holdMs } from '../run/retry.ts'
import type { RunState } from '../run/state.ts'
import { park, settleDue } from './park.ts'
import type { Route } from './routing.ts'

export interface BeginContext {
  now: number
  route: Route
  catalog: CatalogView
  /** What its throttle said a moment ago, if it was asked. */
  start?: Start | undefined
}

/** The move from a lease to the first pass under it. With `next: 'pass'` the run is `running`. */
export function begin(state: RunState, context: BeginContext): { decision: Decision; next: Next } {
  const draft = new Draft(state, context.now)
  const next = start(draft, context)
  return { decision: draft.done(), next }
}

function start(draft: Draft, { route, catalog, start }: BeginContext): Next {
  if (draft.run.cancelRequested) {
    finish(draft, { status: 'cancelled' }, catalog)
    return 'stop'
  }
  const timeout = timedOut(draft.run, draft.now)
  if (timeout) {
    finish(draft, { status: 'failed', error: timeout }, catalog)
    return 'stop'
  }
  settleDue(draft)
  if (draft.run.status === 'paused') {
    park(draft, draft.now)
    return 'stop'
  }
  if (route.kind === 'pinMissing') {
    const message = `The run is pinned to runner "${draft.run.runner}", which is not registered.`
    finish(draft, { status: 'failed', error: { message, code: 'runner_not_registered' } }, catalog)
    return 'stop'
  }
  // A parked run that is due, and one whose lease ran out, is queued before it runs.
  draft.move('queued')
  if (route.kind === 'none') {
    hold(draft)
    return 'stop'
  }
  if (draft.run.leasedWithoutSlots) {
    // Leased without its slots while it was paused, and resumed since: the next claim asks for them.
    draft.set({ availableAt: draft.now, leaseOwner: undefined })
    return 'stop'
  }
  const throttle = throttleToPass(draft.run, draft.now)
  if (throttle && !start?.taken) {
    holdForThrottle(draft, throttle, start)
    return 'stop'
  }
  draft.set({ waitingFor: undefined })
  draft.move('running')
  draft.start = start
  return 'pass'
}

/** It waits in line for its start; a slot that it has goes to another meanwhile. */
function holdForThrottle(draft: Draft, throttle: ThrottleHold, start: Start | undefined): void {
  if (!start) {
    // It could not start when the throttle was to be asked, and can now: the next lease asks.
    draft.set({ availableAt: draft.now, leaseOwner: undefined })
    return
  }
  const { key } = throttle
  const until = Math.max(draft.now, Math.ceil(start.freeAt))
  const waitingFor = { kind: 'throttle', ...(key === undefined ? {} : { key }), until } as const
  draft.set({ availableAt: draft.now + HELD_RECHECK_MS, leaseOwner: undefined, waitingFor })
  draft.start = start
}

/** Every runner has enough to do: the run waits for its turn queued, and keeps its lease. */
export function waitForRunnerRoom(state: RunState, now: number): Decision {
  const draft = new Draft(state, now)
  draft.move('queued')
  draft.set({ waitingFor: { kind: 'runner' } })
  return draft.done()
}

/** No runner could be reached: the run stays queued, spends nothing, and is tried again (contract §3). */
export function holdForRunner(state: RunState, now: number): Decision {
  const draft = new Draft(state, now)
  if (draft.run.status === 'paused') park(draft, now)
  else {
    draft.move('queued')
    hold(draft)
  }
  return draft.done()
}

/** A shutdown gives the lease back between passes: queued, at once available, nothing spent. */
export function giveBack(state: RunState, now: number): Decision {
  const draft = new Draft(state, now)
  if (draft.run.status === 'paused') park(draft, now)
  else {
    draft.set({ availableAt: now, leaseOwner: undefined })
    draft.move('queued')
  }
  return draft.done()
}

function hold(draft: Draft): void {
  const until = draft.now + holdMs(draft.now - draft.run.createdAt)
  draft.set({ availableAt: until, leaseOwner: undefined, waitingFor: { kind: 'runner', until } })
}
