// Checks every invoke when it is sent: it goes to the right runner, carries everything that is settled, and is neither too early
// nor too late. The comparison is with the last read while the engine was idle.

import type { Step } from '../../../packages/engine/src/domain/model/step.ts'
import { ensure, same } from '../core/violation.ts'
import type { Wall } from '../ports/life.ts'
import type { Journal } from '../workload/journal.ts'
import { INVOKE_TIMEOUT_MS } from '../workload/names.ts'
import type { SimRunner } from '../workload/runner.ts'
import type { Pass, RunnerRecord } from '../workload/runner-record.ts'
import type { CheckpointAck, MemoEntry } from '../workload/wire.ts'
import { isDone, isSpent, type RunRecord, SETTLED_OUTSIDE } from './record.ts'

/** A pass may be sent just before its run ends elsewhere, but no later than a lease lasts. */
const CROSSING_MS = 20_000

export function checkSend(record: RunRecord, pass: Pass, runner: SimRunner): void {
  checkAddress(record, pass, runner)
  checkStatus(record, pass)
  checkMemo(record, pass)
  const { ctx } = pass.request
  ensure(
    ctx.attempt >= record.lastAttempt,
    'attempts never reset',
    () => `${record.id}: ${ctx.attempt} after ${record.lastAttempt}`,
    [record.id],
  )
  record.lastAttempt = ctx.attempt
}

function checkAddress({ id, run, namespace }: RunRecord, pass: Pass, { deps }: SimRunner): void {
  if (run === undefined) return
  const { request, timeoutMs } = pass
  const spec = deps.workflows.find(({ name }) => name === run.workflow)
  ensure(
    timeoutMs === (spec?.invokeTimeoutMs ?? INVOKE_TIMEOUT_MS),
    'a pass has its deadline',
    () => `${id}: ${timeoutMs}`,
    [id],
  )
  const { ctx, event } = request
  const detail = () =>
    `${id} of ${namespace}/${run.app}, pin ${run.runner}: ${JSON.stringify(ctx)} to ${deps.namespace}/${deps.app}/${deps.runnerId}`
  ensure(deps.namespace === namespace && deps.app === run.app, 'a pass goes to a runner of its app', detail, [id])
  ensure(run.runner === undefined || run.runner === deps.runnerId, 'a pinned run goes to its runner', detail, [id])
  ensure(
    ctx.app === run.app && ctx.workflow === run.workflow && ctx.runner === (run.runner ?? ''),
    'the context describes the run',
    detail,
    [id],
  )
  ensure((ctx.onFailure ?? false) === (run.failure !== undefined), 'the context marks an on-failure run', detail, [id])
  const input = run.input === undefined ? undefined : JSON.parse(run.input)
  ensure(same(event.data, input), "the event's data is the input", () => `${id}: ${JSON.stringify(event)}`, [id])
}

/** Passes of a run overlap only when an engine died or lost its lease. An engine that lost its lease aborts its own pass. */
export function checkAlone(pass: Pass, underWay: Iterable<Pass>): void {
  const { runId } = pass.request.ctx
  for (const other of underWay) {
    ensure(
      other.request.ctx.runId !== runId || other.engine !== pass.engine,
      'an engine sends one pass of a run at a time',
      () => `${runId}: pass ${pass.no} while pass ${other.no} is under way`,
      [runId],
    )
  }
}

function checkStatus(record: RunRecord, pass: Pass): void {
  const { id, run, terminalSince } = record
  ensure(
    terminalSince === undefined || pass.sentAt < terminalSince + CROSSING_MS,
    'no pass is sent for a run that ended',
    () => `${id} ended ${pass.sentAt - (terminalSince ?? 0)} ms ago`,
    [id],
  )
  if (run?.status !== 'paused') return
  record.sentWhilePaused++
  ensure(record.sentWhilePaused <= 1, 'a paused run stops at the next step boundary', () => id, [id])
}

function checkMemo(record: RunRecord, pass: Pass): void {
  const { id, steps, memo, wall } = record
  const { request, sentAt } = pass
  for (const step of steps) {
    const entry = request.steps[step.id]
    const detail = () => `pass ${pass.no} of ${id} at ${sentAt}: ${JSON.stringify(step)}; memo ${JSON.stringify(entry)}`
    ensure(
      entry !== undefined || !mustBeTold(step, { sentAt, wall }),
      'a committed step is never executed again',
      detail,
      [id],
    )
    if (entry?.pending && isDone(step)) {
      const byOutsiders = SETTLED_OUTSIDE.has(step.op) || step.settledBy !== undefined
      ensure(byOutsiders, 'a settled step is carried with its result', detail, [id])
    }
  }
  for (const [stepId, entry] of memo) {
    ensure(
      mayBeTakenBack(record, stepId) || same(request.steps[stepId], entry),
      'a memo only grows',
      () =>
        `pass ${pass.no} of ${id}, step ${stepId}: ${JSON.stringify(entry)} became ${JSON.stringify(request.steps[stepId])}`,
      [id],
    )
  }
  keepMemo(record, request.steps)
}

/**
 * An ack carries the same results as every memo, in the same order, so that a race in the handler has the same winner again. A
 * paused run stops at its next step. A delayed ack may carry less than later ones.
 */
export function checkAck(record: RunRecord, pass: Pass, ack: CheckpointAck): void {
  const { id, memo, run } = record
  for (const { id: stepId } of ack.steps) {
    const entry = pass.memo[stepId]
    const before = memo.get(stepId)
    ensure(
      before === undefined || entry?.pending || mayBeTakenBack(record, stepId) || same(before, entry),
      'what a memo carried once stays',
      () => `pass ${pass.no} of ${id}, step ${stepId}: ${JSON.stringify(before)} became ${JSON.stringify(entry)}`,
      [id],
    )
  }
  keepMemo(record, pass.memo)
  if (run?.status !== 'paused' || ack.stop) return
  record.wentOnWhilePaused++
  ensure(record.wentOnWhilePaused <= 1, 'a paused run is stopped at its next checkpoint', () => id, [id])
}

/** Records what a runner now knows about the run. The memo grows only at its end. */
function keepMemo(record: RunRecord, steps: Readonly<Record<string, MemoEntry>>): void {
  const { id, memo, order } = record
  const settled = Object.entries(steps).filter(([, entry]) => !entry.pending)
  const stays = (stepId: string) => !mayBeTakenBack(record, stepId)
  const ids = settled.map(([stepId]) => stepId).filter(stays)
  const kept = order.filter(stays)
  const [shorter, longer] = ids.length < kept.length ? [ids, kept] : [kept, ids]
  ensure(
    shorter.every((stepId, i) => longer[i] === stepId),
    'results are carried in the same order every time',
    () => `${id}: ${kept} became ${ids}`,
    [id],
  )
  record.order = longer
  for (const [stepId, entry] of settled) memo.set(stepId, entry)
}

/** Whether resuming may undo the step's failure: its attempts were spent in a workflow that pauses in this case. */
function mayBeTakenBack({ steps }: RunRecord, stepId: string): boolean {
  return steps.some(({ id, spentAt }) => id === stepId && spentAt !== undefined)
}

/**
 * All entries except two kinds: a failed step whose next attempt is due or whose attempts may have been renewed by resuming, and
 * a step with a limit, because its turn may have been granted since the read.
 */
function mustBeTold(step: Step, { sentAt, wall }: { sentAt: number; wall: Wall }): boolean {
  if (isSpent(step) || (step.limit !== undefined && !isDone(step))) return false
  return step.status !== 'retrying' || (!wall.wasSet && (step.nextAttemptAt ?? 0) > sentAt)
}

/** No memo carries the end of a timer before its time, counted from the runner's first report of the timer. */
export function checkTimers(
  pass: Pass,
  {
    runnerRecord,
    startedAt,
    wall,
    journal,
  }: { runnerRecord: RunnerRecord; startedAt: number; wall: Wall; journal: Journal },
): void {
  // A time that was requested as a time is a time of the wall clock.
  const wallTimesFrom = wall.wasSet ? undefined : startedAt
  const { request, sentAt } = pass
  const { runId } = request.ctx
  for (const [stepId, entry] of Object.entries(request.steps)) {
    const isByHand = journal.settles.some(settled => settled.runId === runId && settled.stepId === stepId)
    if (entry.pending || entry.error || isByHand) continue
    // Any pass that reported the timer may be the committed one, so the earliest end is the bound.
    const reporters = runnerRecord.passes(runId).filter(earlier => earlier.reported.has(stepId))
    const dues = reporters.map(earlier => dueAt(earlier, stepId, entry, wallTimesFrom)).filter(due => due !== undefined)
    ensure(
      dues.length === 0 || sentAt >= Math.min(...dues),
      'no timer fires early',
      () => `pass ${pass.no} of ${runId} at ${sentAt}: step ${stepId} is due at ${dues}`,
      [runId],
    )
  }
}

function dueAt(pass: Pass, stepId: string, entry: MemoEntry, wallTimesFrom?: number): number | undefined {
  const { node, at: from = 0 } = pass.reported.get(stepId) ?? {}
  if (node?.kind === 'sleep') return from + node.ms
  if (node?.kind === 'sleepUntil') return wallTimesFrom === undefined ? undefined : wallTimesFrom + node.atMs
  const waits = ['wait', 'callback', 'runWait', 'signalWait']
  if (node && 'timeoutMs' in node && waits.includes(node.kind) && entry.data === null && node.timeoutMs !== undefined)
    return from + node.timeoutMs
  return undefined
}
