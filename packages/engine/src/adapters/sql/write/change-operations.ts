// The row operations of every change. Called by unit-request.ts for each change of a unit.

import { waitMatchKey } from '../../../domain/expressions/match.ts'
import { attributeTexts } from '../../../domain/model/attributes.ts'
import { type BudgetLine, firstLines, type RunBudget } from '../../../domain/model/budget/budget.ts'
import type { Sum } from '../../../domain/model/budget/sum.ts'
import type { Change } from '../../../domain/model/change.ts'
import type { CancelOn } from '../../../domain/model/flow-control.ts'
import { isTerminal, type Run } from '../../../domain/model/run.ts'
import { isSettled, type PassSent, type RanTimes, type Step } from '../../../domain/model/step.ts'
import { scheduledTerms } from '../../../domain/run/later/scheduled-event.ts'
import { givenIdOf } from '../../../domain/text/ids.ts'
import type { JsonText } from '../../../domain/text/json-text.ts'
import { signalEventName } from '../../../domain/text/name.ts'
import { INLINE_CHARS_MAX } from '../description/row-functions.ts'
import type { Table } from '../description/table.ts'
import type { Value } from '../description/values.ts'
import { API_KEYS, NAMESPACES } from '../tables/admin.ts'
import { BULK_RESULTS } from '../tables/bulk-results.ts'
import { CONTROL_ACTIONS } from '../tables/control-actions.ts'
import { ATTEMPTS, DELIVERIES } from '../tables/deliveries.ts'
import { DOCUMENTS } from '../tables/document/documents.ts'
import { rollupKeysOf } from '../tables/endpoint-rollups.ts'
import { ERASED_RUNS } from '../tables/erased-runs.ts'
import { EVENTS } from '../tables/events.ts'
import { BUDGETS, FLOW_ROWS, SCHEDULED_TERMS } from '../tables/flow-rows.ts'
import { FRAMES } from '../tables/frames.ts'
import { GIVEN_RUN_IDS } from '../tables/given-run-ids.ts'
import { LOGS } from '../tables/logs.ts'
import { APPS, RUNNERS, runnerKey, STEP_LIMITS, WORKFLOWS } from '../tables/registry.ts'
import { RUN_WATCHES, RUNS, type RunWatch } from '../tables/runs.ts'
import { STEPS } from '../tables/steps.ts'
import { STREAM_ROWS, STREAMS } from '../tables/streams/streams.ts'
import { ENDPOINTS, RECEIVERS } from '../tables/webhooks.ts'
import { WORKFLOW_DEFINITIONS } from '../tables/workflow-definitions.ts'
import { FORGOTTEN_PER_TURN } from './fair-turns.ts'
import { ERASE_OWN_OPERATIONS, type OperationName } from './statements.ts'

/** Appends the operations that make the change: the number of parameters, the name and the parameters of each. */
export function appendChange(to: Value[], change: Change): void {
  const append = APPENDS[change.type] as (to: Value[], change: Change) => void
  append(to, change)
}

/** Appends an operation with these parameters. */
export function appendOperation(to: Value[], name: OperationName, ...params: Value[]): void {
  to.push(params.length, name, ...params)
}

/** Appends an operation whose parameters are a row of the table. */
export function appendRow<T>(to: Value[], name: OperationName, table: Table<T>, object: T): void {
  to.push(table.columns.length, name)
  table.append(to, object)
}

/** Appends an operation whose parameters are the columns that a move writes, then the columns that find the row. */
function appendMove<T>(to: Value[], name: OperationName, move: { table: Table<T>; object: T; key: Value[] }) {
  const { table, object, key } = move
  to.push(table.moving.length + key.length, name)
  table.appendMoving(to, object)
  to.push(...key)
}

/** The parameter of each is the id of the run, twice. */
const ERASE_FIRST = ['erase.attempts', 'erase.sentPayloads', 'erase.deliveries', 'erase.errorState'] as const
const ERASE_OWN = Object.keys(ERASE_OWN_OPERATIONS) as (keyof typeof ERASE_OWN_OPERATIONS)[]

const MARKS = { awaited: 'run.await', signalled: 'run.signal', delivered: 'run.deliver' } as const

const APPENDS: {
  [Type in Change['type']]: (to: Value[], change: Extract<Change, { type: Type }>) => void
} = {
  'run.created': (to, { run }) => {
    appendRow(to, 'run.insert', RUNS, run)
    appendPayload(to, run.id, run.input)
    const { namespace, id: runId } = run
    const givenId = givenIdOf(runId)
    if (givenId !== undefined) appendRow(to, 'givenId.insert', GIVEN_RUN_IDS, { namespace, givenId, runId })
    for (const watched of run.cancelOn ?? []) appendRow(to, 'watch.insert', RUN_WATCHES, watchOf(run, watched))
    if (run.budgets !== undefined && run.continuedFrom === undefined) appendBudgets(to, run.budgets)
    if (run.attributes === undefined) return
    for (const text of attributeTexts(run.attributes)) appendOperation(to, 'attribute.create', text, run.id, run.fence)
  },
  'run.moved': (to, { run, frames, started }) => {
    if (run.holds?.fairness) appendTurn(to, run, started)
    const { id, status, finishedAt = null } = run
    if (isTerminal(status)) {
      appendMove(to, 'run.end', { table: RUNS, object: run, key: [status, finishedAt, finishedAt, id, id] })
      if (run.attributes !== undefined) appendOperation(to, 'attributes.end', status, id)
    } else appendMove(to, 'run.update', { table: RUNS, object: run, key: [id] })
    for (const frame of frames) appendRow(to, 'frame.insert', FRAMES, { ...frame, runId: run.id })
    if (run.cancelOn && isTerminal(run.status)) appendOperation(to, 'watch.delete', run.id)
  },
  'run.attributed': (to, { runId, attributes, added, removed }) => {
    appendOperation(to, 'run.attributes', attributes === undefined ? null : JSON.stringify(attributes), runId)
    for (const text of removed) appendOperation(to, 'attribute.delete', text, runId)
    for (const text of added) appendOperation(to, 'attribute.insert', text, runId)
  },
  'run.kept': (to, { runId, until }) => appendOperation(to, 'run.keep', until, runId),
  'run.progressed': (to, { run, progress }) => appendOperation(to, 'run.progress', JSON.stringify(progress), run.id),
  'budget.spent': (to, { budgetIds, sums }) => {
    for (const id of budgetIds) for (const [name, sum] of Object.entries(sums)) appendSpent(to, { id, name, ...sum })
  },
  'budget.limited': (to, { budgetId, limits }) => {
    for (const [name, limit] of Object.entries(limits)) appendOperation(to, 'budget.limit', name, limit, budgetId)
  },
  'run.erased': (to, { namespace, runId, budgetId, eventIds, at }) => {
    // The steps name deliveries, so they go after these.
    for (const name of ERASE_FIRST) appendOperation(to, name, runId, runId)
    for (const name of ERASE_OWN) appendOperation(to, name, runId)
    if (budgetId !== undefined) appendOperation(to, 'erase.budget', budgetId)
    for (const id of eventIds) appendOperation(to, 'erase.event', id, namespace)
    appendRow(to, 'erase.mark', ERASED_RUNS, { id: runId, namespace, erasedAt: at })
  },
  'run.cancelRequested': (to, { at, runId, followsChain, skipsCleanup }) => {
    const skips = skipsCleanup ? 1 : null
    appendOperation(to, 'run.requestCancel', skips, at, at, runId)
    if (followsChain) appendOperation(to, 'chain.requestCancel', skips, at, at, runId)
  },
  'run.marked': (to, { runId, mark }) => appendOperation(to, MARKS[mark], runId),
  'event.delivered': (to, { runId, eventId, sent }) =>
    appendOperation(to, 'event.deliver', JSON.stringify(sent), runId, eventId),
  'inbox.left': (to, { inbox, eventIds, nextRunId }) => {
    for (const id of eventIds) appendOperation(to, 'inbox.take', inbox, id)
    if (nextRunId !== undefined) appendOperation(to, 'inbox.lookBack', nextRunId)
  },
  'signals.left': (to, { runId, at, seq, nextRunId, eventIds = [] }) => {
    if (nextRunId === undefined) return appendOperation(to, 'signals.log', runId, seq, at, runId, runId)
    const name = signalEventName(nextRunId, '')
    const before = signalEventName(runId, '').length
    appendOperation(to, 'signals.pass', nextRunId, name, before + 1, runId, runId)
    for (const id of eventIds) appendOperation(to, 'signal.pass', nextRunId, name, before + 1, id, runId)
  },
  'update.answered': (to, { namespace, runId, updateId, answer }) =>
    appendOperation(to, 'update.answer', JSON.stringify(answer), updateId, namespace, runId),
  'waits.due': (to, { runId, at }) => {
    appendOperation(to, 'waits.runs', at, runId)
    appendOperation(to, 'waits.steps', at, runId)
  },
  'app.runnerArrived': (to, { at, namespace, app, workflows }) => {
    if (workflows === undefined) appendOperation(to, 'run.runnerArrived', at, namespace, app, at)
    else {
      const list = `\n${workflows.join('\n')}\n`
      appendOperation(to, 'run.runnerServes', at, namespace, app, at, list, list)
    }
  },
  'slots.freed': (to, { at, slotIds }) => {
    for (const id of slotIds) appendOperation(to, 'slot.free', at, at, id, id)
  },
  'startQueue.woken': (to, { at, id, count, byTurn }) => {
    if (byTurn) appendOperation(to, 'startQueue.wakeByTurn', at, id, id, count, count, count, at)
    else appendOperation(to, 'startQueue.wake', at, id, count, at)
  },
  'step.recorded': (to, change) => {
    const { step } = change
    if (step.eventName !== undefined && step.status === 'waiting') appendParkedWait(to, step)
    else appendRow(to, 'step.insert', STEPS, step)
    appendStepFrame(to, change)
  },
  'step.moved': (to, change) => {
    const { step, isLate } = change
    const name = isLate ? 'step.answerLate' : 'step.update'
    appendMove(to, name, { table: STEPS, object: step, key: [step.runId, step.index] })
    appendStepFrame(to, change)
  },
  'step.woken': (to, { status, data = null, error, eventId = null, at, runId, stepIndex }) => {
    const errorText = error === undefined ? null : JSON.stringify(error)
    appendOperation(to, 'step.wake', status, data, errorText, eventId, at, runId, stepIndex)
  },
  'log.written': (to, { line }) => appendRow(to, 'log.insert', LOGS, line),
  'event.recorded': (to, { event }) => appendRow(to, 'event.insert', EVENTS, event),
  'dedupe.claimed': (to, { namespace, app, dedupeId, expiresAt, eventId = null }) =>
    appendOperation(to, 'dedupe.claim', namespace, app, dedupeId, expiresAt, eventId),
  'delivery.created': (to, { delivery }) => {
    appendRow(to, 'delivery.insert', DELIVERIES, delivery)
    appendPayload(to, delivery.id, delivery.payload)
  },
  'delivery.moved': (to, { delivery }) =>
    appendMove(to, 'delivery.update', { table: DELIVERIES, object: delivery, key: [delivery.id] }),
  'delivery.attempted': (to, { attempt, counted }) => {
    appendRow(to, 'attempt.insert', ATTEMPTS, attempt)
    if (!counted) return
    for (const key of rollupKeysOf(counted)) appendOperation(to, 'post.count', ...key)
  },
  'stream.written': (to, { head, rows, before }) => {
    if (before === undefined) appendRow(to, 'stream.insert', STREAMS, head)
    else appendMove(to, 'stream.update', { table: STREAMS, object: head, key: [head.runId, head.name, before] })
    for (const row of rows) appendRow(to, 'streamRow.insert', STREAM_ROWS, row)
  },
  'stream.merged': (to, { runId, name, n, end }) => {
    const rows = [runId, name, n, end]
    appendOperation(to, 'streamRows.merge', ...rows, ...rows, runId, name, n)
    appendOperation(to, 'streamRows.drop', ...rows)
  },
  'app.seen': (to, { app }) => appendRow(to, 'app.insert', APPS, app),
  'runner.registered': (to, { runner }) => appendRow(to, 'runner.put', RUNNERS, runner),
  'runner.forgotten': (to, { namespace, app, runnerId }) =>
    appendOperation(to, 'runner.delete', namespace, app, runnerKey(runnerId)),
  'workflow.registered': (to, { workflow }) => {
    const { namespace, app, name, updatedAt: at } = workflow
    appendRow(to, 'workflow.put', WORKFLOWS, workflow)
    appendOperation(to, 'run.childArrived', at, namespace, at)
    for (const operation of ['pause.takeBack', 'pause.delete'] as const)
      appendOperation(to, operation, namespace, app, name)
  },
  'definition.changed': (to, { before, now }) => {
    if (before) appendRow(to, 'definition.keep', WORKFLOW_DEFINITIONS, before)
    appendRow(to, 'definition.put', WORKFLOW_DEFINITIONS, now)
    const of = [now.namespace, now.app, now.workflow]
    appendOperation(to, 'definition.dropOld', ...of, ...of)
  },
  'workflow.paused': (to, { namespace, app, name, pausedAt }) =>
    appendOperation(to, 'workflow.pause', pausedAt, namespace, app, name),
  'workflow.resumed': (to, { namespace, app, name, at }) => {
    appendOperation(to, 'workflow.resume', namespace, app, name)
    appendOperation(to, 'run.workflowWoken', at, at, namespace, 'workflow-paused', app, name)
  },
  'workflow.limited': (to, { namespace, app, name, at }) =>
    appendOperation(to, 'run.workflowWoken', at, at, namespace, 'concurrency', app, name),
  'workflow.throttled': (to, { namespace, app, name, at }) =>
    appendOperation(to, 'run.throttleWoken', at, at, namespace, 'throttle', app, name),
  'workflow.limitsSet': (to, { namespace, app, name, limits }) =>
    appendOperation(to, 'workflow.limit', limits ? JSON.stringify(limits) : null, namespace, app, name),
  'workflow.dropped': (to, change) => {
    const { namespace, app, name } = change
    appendOperation(to, 'pause.keep', namespace, app, name)
    appendDropped(to, change)
  },
  'workflow.deleted': (to, change) => {
    const { namespace, app, name } = change
    appendDropped(to, change)
    appendOperation(to, 'flow.deleteOf', namespace, app, name)
  },
  'app.deleted': (to, { namespace, app }) => {
    appendOperation(to, 'app.delete', namespace, app)
    appendOperation(to, 'pause.deleteOf', namespace, app)
    appendOperation(to, 'stepLimit.deleteOf', namespace, app)
  },
  'runner.workflowsDeleted': (to, { namespace, app, runnerId, deletedWorkflows }) => {
    const list = deletedWorkflows.length === 0 ? null : JSON.stringify(deletedWorkflows)
    appendOperation(to, 'runner.workflowsDeleted', list, namespace, app, runnerKey(runnerId))
  },
  'endpoint.saved': (to, { endpoint }) => appendRow(to, 'endpoint.put', ENDPOINTS, endpoint),
  'endpoint.deleted': (to, { id, namespace }) => appendOperation(to, 'endpoint.delete', id, namespace),
  'receiver.saved': (to, { receiver }) => appendRow(to, 'receiver.put', RECEIVERS, receiver),
  'receiver.deleted': (to, { id, namespace }) => appendOperation(to, 'receiver.delete', id, namespace),
  'secrets.sealed': (to, { isSealed }) => appendOperation(to, 'sealing.set', Number(isSealed)),
  'flow.saved': (to, { row }) => {
    appendRow(to, 'flow.put', FLOW_ROWS, row)
    const { namespace, id: rowId, dueAt = 0 } = row
    for (const term of scheduledTerms(row))
      appendRow(to, 'scheduledTerm.insert', SCHEDULED_TERMS, { namespace, term, dueAt, rowId })
  },
  'flow.deleted': (to, { id, isScheduled }) => {
    appendOperation(to, 'flow.delete', id)
    if (isScheduled) appendOperation(to, 'scheduledTerms.delete', id)
  },
  'turn.asked': (to, { pool, runId, stepIndex, at }) => {
    appendOperation(to, 'stepTurn.pool', pool.id, pool.namespace, pool.app, pool.limit, pool.key)
    appendOperation(to, 'stepTurn.ask', pool.id, runId, stepIndex, at, pool.id)
  },
  'turn.started': (to, { runId, stepIndex, startedAt }) =>
    appendOperation(to, 'stepTurn.start', startedAt, runId, stepIndex),
  'turn.left': (to, { runId, stepIndex }) => appendOperation(to, 'stepTurn.leave', runId, stepIndex),
  'turns.held': (to, { runId, isHeld }) => appendOperation(to, isHeld ? 'stepTurns.hold' : 'stepTurns.release', runId),
  'turns.granted': (to, { poolId: id, at }) => {
    appendOperation(to, 'stepTurns.forget', id, at, id)
    appendOperation(to, 'stepTurns.runs', at, id, at, id)
    appendOperation(to, 'stepTurns.steps', at, id, at, id)
    appendOperation(to, 'stepTurns.grant', at, id, id, at, id)
    appendOperation(to, 'stepTurns.next', at, id, at, id, at, id, id)
  },
  'limits.registered': (to, { namespace, app, limits, dropped, at }) => {
    for (const limit of limits) appendRow(to, 'stepLimit.put', STEP_LIMITS, limit)
    for (const name of dropped) appendOperation(to, 'stepLimit.delete', namespace, app, name)
    for (const { name } of limits) appendOperation(to, 'stepTurns.due', at, namespace, app, name)
  },
  'key.created': (to, { key }) => {
    appendRow(to, 'namespace.insert', NAMESPACES, { name: key.namespace, createdAt: key.createdAt })
    appendRow(to, 'key.insert', API_KEYS, key)
    appendOperation(to, 'admin.changed')
  },
  'key.revoked': (to, { id, at }) => {
    appendOperation(to, 'key.revoke', at, id)
    appendOperation(to, 'admin.changed')
  },
  'control.recorded': (to, { action }) => appendRow(to, 'control.put', CONTROL_ACTIONS, action),
  'bulkResult.recorded': (to, { result }) => appendRow(to, 'bulkResult.insert', BULK_RESULTS, result),
  'document.saved': (to, { document }) => appendRow(to, 'document.put', DOCUMENTS, document),
  'document.deleted': (to, { namespace, kind, id }) => appendOperation(to, 'document.delete', namespace, kind, id),
}

function watchOf({ id: runId, namespace, trigger, input, createdAt }: Run, of: CancelOn): RunWatch {
  const { event: eventName, if: condition, match, timeoutMs } = of
  return {
    namespace,
    eventName,
    runId,
    ...(condition === undefined ? {} : { condition }),
    ...(match === undefined ? {} : { match, matchKey: waitMatchKey(match, { ...trigger, data: input }) }),
    ...(timeoutMs === undefined ? {} : { until: createdAt + timeoutMs }),
  }
}

/** Counts a new run for the budgets above it, and begins its own budget. */
function appendBudgets(to: Value[], budgets: readonly RunBudget[]): void {
  for (const budget of budgets) {
    if (budget.limits === undefined) appendSpent(to, { id: budget.id, name: 'runs', whole: 1, billionths: 0 })
    else for (const line of firstLines(budget)) appendRow(to, 'budget.begin', BUDGETS, line)
  }
}

function appendSpent(to: Value[], { id, name, whole, billionths }: Pick<BudgetLine, 'id' | 'name' | keyof Sum>): void {
  appendOperation(to, 'budget.spend', whole, billionths, billionths, id, name)
}

/** Adds a run with a fairness key to the start queue of its throttle; a run that has started takes a turn of its key. */
function appendTurn(to: Value[], { holds, startQueue, startedAt, createdAt, leaseOwner }: Run, started?: true): void {
  const { fairness, throttle } = holds ?? {}
  if (!fairness || !throttle) return
  const { id } = throttle
  const { key, weight } = fairness
  if (startQueue === id && leaseOwner === undefined)
    appendOperation(to, 'turn.join', id, key, 1 / weight, createdAt, id, id)
  if (!started) return
  appendOperation(to, 'turn.take', 1 / weight, startedAt ?? createdAt, id, key)
  appendOperation(to, 'turn.forget', id, id, FORGOTTEN_PER_TURN, id)
}

/** Removes a workflow with the history of its definitions, so that names which come and go leave nothing. */
function appendDropped(to: Value[], { namespace, app, name }: { namespace: string; app: string; name: string }): void {
  appendOperation(to, 'workflow.delete', namespace, app, name)
  appendOperation(to, 'definition.deleteOf', namespace, app, name)
}

/** Gives a parked wait its run's namespace, for the index by which events find it. */
function appendParkedWait(to: Value[], step: Step): void {
  to.push(STEPS.columns.length + 1, 'wait.insert' satisfies OperationName)
  STEPS.append(to, step)
  to.push(step.runId)
}

/**
 * The row of a settled step is also its frame. Every other status is temporary, and a step with no tries left may settle again,
 * so those frames need their own rows.
 */
function appendStepFrame(to: Value[], { step, at = step.startedAt }: { step: Step; at?: number }): void {
  const settled = isSettled(step.status)
  if (settled && step.spentAt === undefined) return
  const { runId, seq, status, attempt, maxAttempts, index, error } = step
  const ts = settled ? (step.finishedAt ?? at) : at
  const frame = {
    runId,
    seq,
    ts,
    status,
    attempt,
    maxAttempts,
    stepIndex: index,
    ...(error && { error }),
    ...reportOf(step),
  }
  appendRow(to, 'frame.insert', FRAMES, frame)
}

/** The pass and the times of an attempt that has ended. The step's row gets those of the next attempt. */
function reportOf({ status, pass, runner, passSentAt, ranAt, ranMs }: Step): Partial<PassSent & RanTimes> {
  if (pass === undefined || (status !== 'retrying' && !isSettled(status))) return {}
  return { pass, runner, passSentAt, ranAt, ranMs }
}

/** Stores a payload that is too long for its row in `payloads`, under the row's id. */
function appendPayload(to: Value[], id: string, text: JsonText | undefined): void {
  if (text !== undefined && text.length > INLINE_CHARS_MAX) appendOperation(to, 'payload.insert', id, text)
}
