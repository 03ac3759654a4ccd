// Drafts all consequences of the end of a run, in the same commit: cancels open steps and children, notifies subscribed
// endpoints and workflows that listen, answers the parent, and starts the runs that follow: one for the onFailure handler, one
// for the cleanup. A run that continues has a next run instead of all that (docs/concepts.md#runs-that-continue).

import { asThrownError, ROOT_SCOPE, type RunError, type StepError } from '@perdure/protocol'
import type { Report } from '../expressions/matching.ts'
import { handOverToLink } from '../holds/kept-slots.ts'
import type { CatalogView } from '../model/catalog.ts'
import type { DeliveredEvent } from '../model/event.ts'
import { runKind } from '../model/run.ts'
import type { Step } from '../model/step.ts'
import { shownRunId } from '../text/ids.ts'
import type { JsonText } from '../text/json-text.ts'
import { END_LINES_MAX, LATE_ANSWER_MS, LATE_STEPS_MAX } from './cleanup/late-window.ts'
import { cleanupRun, deliveredRun, linkRun, onFailureRun } from './create.ts'
import { cancelAtBirth, Draft } from './draft.ts'
import { endedEvent } from './later/ended-event.ts'
import { notifyRunEnded } from './notices.ts'
import { RunState } from './state.ts'

export type End =
  | { status: 'succeeded'; result?: JsonText; continueAs?: NextLink }
  | { status: 'failed'; error: RunError }
  | { status: 'cancelled' }

/** The data of the next run, and the receiver of expressions of its holds that fail. */
export interface NextLink {
  data?: JsonText | undefined
  /** Signals that a step has taken but the handler was not given. */
  ungiven?: readonly string[]
  report?: Report
}

/**
 * Ends the drafted run. The draft must not change the run afterwards. `mayAnswer`: its pass is under way and may still answer,
 * so the cleanup run waits for it. `given`: the events that the handler was given; absent: the events that the runner knew at
 * its last stored report.
 */
export function finish(
  draft: Draft,
  end: End,
  catalog: CatalogView,
  { mayAnswer = false, given }: { mayAnswer?: boolean; given?: ReadonlySet<string> | undefined } = {},
): void {
  cancelOutstanding(draft)
  // Called before the lines about the end, so that seqs of late steps differ from the seqs of these lines.
  if (mayAnswer) draft.skipSeqs(LATE_STEPS_MAX + END_LINES_MAX - 1)
  const delivered = given ?? reportedEvents(draft.state)
  draft.set({
    availableAt: undefined,
    leaseOwner: undefined,
    waitingFor: undefined,
    cancelRequested: undefined,
    ...(draft.run.lastFailure && { lastFailure: undefined }),
  })
  if (end.status === 'succeeded' && end.result !== undefined) draft.set({ result: end.result })
  if (end.status === 'failed') draft.set({ error: end.error })
  const next = end.status === 'succeeded' ? end.continueAs : undefined
  if (next) continueRun(draft, next, { catalog, given: delivered })
  else {
    startFromInbox(draft, { catalog, given: delivered })
    leaveSignals(draft)
    sendEnd(draft, end.status, catalog)
  }
  draft.move(end.status)
  keep(draft, end.status, catalog)
  // Only the end of the last run of the chain has these consequences.
  if (next) return
  notifyRunEnded(draft, catalog)
  answerParent(draft, end)
  answerWaits(draft)
  if (end.status === 'failed') followFailure(draft, end.error, catalog)
  if (end.status !== 'succeeded') cleanUp(draft, end, { catalog, mayAnswer })
}

/** Stores the event of the end for the workflows that listen. If it is not sent, the reason is in the run's log. */
function sendEnd(draft: Draft, status: End['status'], catalog: CatalogView): void {
  const row = endedEvent(draft.run, { status, now: draft.now, catalog })
  if (typeof row === 'string')
    draft.log({ level: 'warn', message: row, scope: ROOT_SCOPE, attempt: 1, index: 0, dedupe: 'ended' })
  else if (row) draft.changes.push({ type: 'flow.saved', row })
}

/** The store knows which signals no step has taken. Most runs have none, but a run may have thousands. */
function leaveSignals(draft: Draft, next: { nextRunId?: string; eventIds?: readonly string[] } = {}): void {
  const { run, now: at, changes } = draft
  if (run.signalled) changes.push({ type: 'signals.left', runId: run.id, at, seq: draft.nextSeq(), ...next })
}

function keep({ run, now, changes }: Draft, status: End['status'], catalog: CatalogView): void {
  const ms = catalog.workflow(run.app, run.workflow)?.retention?.[status]
  if (ms !== undefined) changes.push({ type: 'run.kept', runId: run.id, until: now + ms })
}

function cancelOutstanding(draft: Draft): void {
  for (const step of [...draft.open.values()]) {
    draft.moveStep(step, { status: 'cancelled', finishedAt: draft.now, nextAttemptAt: undefined })
    if (step.childRunId !== undefined) cancelChild(draft, step.childRunId)
  }
  for (const runId of draft.abandonedChildren) cancelChild(draft, runId)
}

/** Requests the cancel of a child of the run. */
export function cancelChild(draft: Draft, runId: string): void {
  // If a run ends without a cleanup, its children end without one too.
  const how = draft.run.skipsCleanup ? { skipsCleanup: true as const } : {}
  // A child that this decision creates is created together with the request.
  if (!cancelAtBirth(draft.changes, runId, how))
    draft.changes.push({ type: 'run.cancelRequested', runId, at: draft.now, followsChain: true, ...how })
}

/** Drafts the next run of the chain. The next run of a paused run is paused. */
function continueRun(draft: Draft, { data, report, ungiven = [] }: NextLink, { catalog, given }: Delivering): void {
  const { run, now } = draft
  const under = { workflow: catalog.workflow(run.app, run.workflow), report }
  const created = linkRun(run, { input: data, now, under })
  const link = { ...created, ...handOverToLink(run, created.holds) }
  draft.set({ continuedAs: link.id })
  leaveSignals(draft, { nextRunId: link.id, eventIds: ungiven })
  if (run.status !== 'paused') {
    draft.changes.push({ type: 'run.created', run: link })
    leaveInbox(draft, { eventIds: [...given], nextRunId: link.id })
    return
  }
  const paused = new Draft(RunState.created(link), now)
  paused.move('paused')
  paused.set({ availableAt: undefined })
  const { changes } = paused.done()
  draft.changes.push({ type: 'run.created', run: { ...link, status: 'paused', availableAt: undefined } }, ...changes)
  leaveInbox(draft, { eventIds: [...given], nextRunId: link.id })
}

interface Delivering {
  catalog: CatalogView
  /** The events that the handler was given. */
  given: ReadonlySet<string>
}

/** Starts a run with the first delivered event that the handler was not given. That run gets the other events too. */
function startFromInbox(draft: Draft, { catalog, given }: Delivering): void {
  const { run, state, now } = draft
  const own = deliveredHere(draft)
  if (run.inbox === undefined && !own) return
  const inbox = run.inbox ?? run.id
  let first = own
  if (run.inbox !== undefined) {
    const read = state.inbox
    if (!read || !isSameSet(read.given, given)) {
      draft.questions.push({ type: 'inbox', state, id: inbox, given })
      return
    }
    draft.guards.push({ type: 'inbox', inbox, after: read.newest })
    first = read.first ?? own
  }
  if (!first) {
    leaveInbox(draft, { eventIds: [...given] })
    return
  }
  const under = { workflow: catalog.workflow(run.app, run.workflow) }
  const started = deliveredRun(run, first, { inbox, now, under })
  draft.changes.push({ type: 'run.created', run: started })
  logLeft(draft, first.event.id, started.id)
  leaveInbox(draft, { eventIds: [...given, first.event.id], nextRunId: started.id })
}

/** Logs in the run with which of its events another run starts. */
function logLeft(draft: Draft, eventId: string, nextRunId: string): void {
  const message = `The run ended before it took the delivered event ${eventId}. Run ${shownRunId(nextRunId)} starts with the event.`
  draft.log({ level: 'info', message, scope: ROOT_SCOPE, attempt: 1, index: 0, dedupe: 'inbox' })
}

/** The first event that the decision itself delivers to the run, because the run emits it in its last pass. */
function deliveredHere({ run, changes }: Draft): DeliveredEvent | undefined {
  const delivered = changes.find(change => change.type === 'event.delivered' && change.runId === run.id)
  if (delivered?.type !== 'event.delivered') return undefined
  const recorded = changes.find(change => change.type === 'event.recorded' && change.event.id === delivered.eventId)
  return recorded?.type === 'event.recorded' ? { event: recorded.event, sent: delivered.sent } : undefined
}

function leaveInbox(draft: Draft, left: { eventIds: readonly string[]; nextRunId?: string }): void {
  const { run, changes } = draft
  if (run.inbox === undefined && !deliveredHere(draft)) return
  changes.push({ type: 'inbox.left', inbox: run.inbox ?? run.id, ...left })
}

/** The events of settled waits that the runner knew at its last stored report: the handler was certainly given these. */
function reportedEvents({ run, settled }: RunState): ReadonlySet<string> {
  const { knew = 0 } = run.lastPass ?? {}
  if (run.inbox === undefined) return NONE
  return takenBy(settled.filter(({ seq }) => seq <= knew))
}

/** The events that the first `count` settled steps took from the log, except some. */
export function takenEvents({ run, settled }: RunState, count: number, except: readonly string[]): ReadonlySet<string> {
  if (run.inbox === undefined) return NONE
  const taken = new Set(takenBy(settled.slice(0, count)))
  for (const id of except) taken.delete(id)
  return taken
}

function takenBy(steps: readonly Step[]): ReadonlySet<string> {
  const ids = steps.map(({ op, eventId }) => (op === 'WaitForEvent' ? eventId : undefined))
  return new Set(ids.filter(id => id !== undefined))
}

const NONE: ReadonlySet<string> = new Set()

function isSameSet(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every(id => other.has(id))
}

function answerParent(draft: Draft, end: End): void {
  const { parentRunId, parentStepIndex } = draft.run
  if (parentRunId === undefined || parentStepIndex === undefined) return
  draft.changes.push({
    type: 'step.woken',
    runId: parentRunId,
    stepIndex: parentStepIndex,
    at: draft.now,
    ...(end.status === 'succeeded'
      ? { status: 'succeeded', data: end.result }
      : { status: 'failed', error: childError(draft.run.id, end) }),
  })
}

/** Makes the steps of other runs due that wait for the end of the chain. */
function answerWaits({ run, now, changes }: Draft): void {
  if (run.awaited) changes.push({ type: 'waits.due', runId: run.chainId ?? run.id, at: now })
}

/** The error that the parent's handler sees. A code that only shows where the child failed is left out. */
function childError(childRunId: string, end: Extract<End, { status: 'failed' | 'cancelled' }>): StepError {
  if (end.status === 'cancelled')
    return { name: 'ChildRunCancelledError', message: `Child run ${childRunId} was cancelled.` }
  const { code, ...error } = asThrownError(end.error)
  return code === undefined || CODES_OF_PLACES.includes(code) ? error : { ...error, code }
}

const CODES_OF_PLACES = ['step_failed', 'handler_failed']

/** Starts an on-failure run after any failure, except for a run that itself follows another. */
function followFailure(draft: Draft, error: RunError, catalog: CatalogView): void {
  const { run, now } = draft
  if (runKind(run) !== 'run' || !catalog.workflow(run.app, run.workflow)?.onFailure) return
  draft.changes.push({ type: 'run.created', run: onFailureRun(run, error, now) })
}

/** Starts the cleanup run, if there is something to undo or the workflow has a handler for cancelled runs. */
function cleanUp(
  draft: Draft,
  end: Extract<End, { status: 'failed' | 'cancelled' }>,
  { catalog, mayAnswer }: { catalog: CatalogView; mayAnswer: boolean },
): void {
  const { run, now } = draft
  if (runKind(run) !== 'run' || run.skipsCleanup) return
  const hasHandler = end.status === 'cancelled' && catalog.workflow(run.app, run.workflow)?.cleanup
  if (!draft.hasRollback && !hasHandler) return
  const error = end.status === 'failed' ? end.error : undefined
  const created = cleanupRun(run, { error, now })
  const availableAt = mayAnswer ? now + LATE_ANSWER_MS : created.availableAt
  draft.changes.push({ type: 'run.created', run: { ...created, availableAt } })
}
