// Every change as row operations. Called by the store for each unit; the order of the changes is kept.

import { type Change, changesCatalog, type StepWoken } from '../../../domain/model/change.ts'
import { isTerminal, type Run } from '../../../domain/model/run.ts'
import { isSettled, type Step } from '../../../domain/model/step.ts'
import { attemptRow, deliveryMoves, deliveryRow } from '../tables/deliveries.ts'
import { eventRow } from '../tables/events.ts'
import { flowRow } from '../tables/flow-rows.ts'
import { runFrameRow, stepFrameRow } from '../tables/frames.ts'
import { logRow } from '../tables/logs.ts'
import type { Op } from '../tables/operations.ts'
import { payloadOps } from '../tables/payloads.ts'
import { appRow, controlRow, runnerKey, runnerRow, workflowRow } from '../tables/registry.ts'
import { runMoves, runRow } from '../tables/runs.ts'
import { stepMoves, stepRow } from '../tables/steps.ts'
import { endpointRow, receiverRow } from '../tables/webhooks.ts'

/** The row operations that make the changes, in their order. */
export function changeOps(changes: readonly Change[]): Op[] {
  const ops: Op[] = []
  for (const change of changes) addOps(ops, change)
  if (changes.some(changesCatalog)) ops.push(['catalog.changed'])
  return ops
}

function addOps(ops: Op[], change: Change): number {
  switch (change.type) {
    case 'run.created':
      return ops.push(
        ['run.insert', ...runRow(change.run)],
        ...payloadOps(change.run.id, change.run.input),
        ...watches(change.run),
      )
    case 'run.moved':
      return ops.push(...runMoved(change))
    case 'run.cancelRequested':
      return ops.push(['run.requestCancel', change.at, change.runId])
    case 'app.runnerArrived':
      return ops.push(['run.runnerArrived', change.at, change.namespace, change.app, change.at])
    case 'slots.freed':
      return ops.push(...change.slotIds.map((id): Op => ['slot.free', change.at, id]))
    case 'startQueue.woken':
      return ops.push(['startQueue.wake', change.at, change.id, change.count, change.at])
    case 'step.recorded':
      return ops.push(stepRecorded(change.step), ...stepFrame(change))
    case 'step.moved':
      return ops.push(
        ['step.update', ...stepMoves(change.step), change.step.runId, change.step.index],
        ...stepFrame(change),
      )
    case 'step.woken':
      return ops.push(stepWoken(change))
    case 'log.written':
      return ops.push(['log.insert', ...logRow(change.line)])
    case 'event.recorded':
      return ops.push(['event.insert', ...eventRow(change.event)])
    case 'dedupe.claimed':
      return ops.push(['dedupe.claim', change.namespace, change.app, change.dedupeId, change.expiresAt])
    case 'delivery.created': {
      const { delivery } = change
      return ops.push(
        ['delivery.insert', ...deliveryRow(delivery)],
        ...payloadOps(delivery.id, delivery.payload),
      )
    }
    case 'delivery.moved':
      return ops.push(['delivery.update', ...deliveryMoves(change.delivery), change.delivery.id])
    case 'delivery.attempted':
      return ops.push(['attempt.insert', ...attemptRow(change.attempt)])
    case 'app.seen':
      return ops.push(['app.insert', ...appRow(change.app)])
    case 'runner.registered':
      return ops.push(['runner.put', ...runnerRow(change.runner)])
    case 'runner.forgotten':
      return ops.push(['runner.delete', change.namespace, change.app, runnerKey(change.runnerId)])
    case 'workflow.registered':
      return ops.push(['workflow.put', ...workflowRow(change.workflow)])
    case 'workflow.dropped':
      return ops.push(['workflow.delete', change.namespace, change.app, change.name])
    case 'endpoint.saved':
      return ops.push(['endpoint.put', ...endpointRow(change.endpoint)])
    case 'endpoint.deleted':
      return ops.push(['endpoint.delete', change.id, change.namespace])
    case 'receiver.saved':
      return ops.push(['receiver.put', ...receiverRow(change.receiver)])
    case 'receiver.deleted':
      return ops.push(['receiver.delete', change.id, change.namespace])
    case 'flow.saved':
      return ops.push(['flow.put', ...flowRow(change.row)])
    case 'flow.deleted':
      return ops.push(['flow.delete', change.id])
    case 'control.recorded':
      return ops.push(['control.put', ...controlRow(change.action)])
  }
}

function runMoved({ run, frames }: Extract<Change, { type: 'run.moved' }>): Op[] {
  const frameOps = frames.map((frame): Op => ['frame.insert', ...runFrameRow(run.id, frame)])
  const ops: Op[] = [['run.update', ...runMoves(run), run.id], ...frameOps]
  if (run.cancelOn && isTerminal(run.status)) ops.push(['watch.delete', run.id])
  return ops
}

/** What an event finds the run by that is to cancel it. */
function watches({ namespace, id, cancelOn = [] }: Run): Op[] {
  return cancelOn.map(({ event, if: condition }) => ['watch.insert', namespace, event, id, condition ?? null])
}

/** A parked wait takes its run's namespace along, for the index that events find it by. */
function stepRecorded(step: Step): Op {
  const isParkedWait = step.op === 'WaitForEvent' && step.status === 'waiting'
  return isParkedWait ? ['wait.insert', ...stepRow(step), step.runId] : ['step.insert', ...stepRow(step)]
}

/** The row of a settled step tells its frame; any other status needs a frame of its own, for it will pass. */
function stepFrame({ step, at = step.startedAt }: { step: Step; at?: number }): Op[] {
  return isSettled(step.status) ? [] : [['frame.insert', ...stepFrameRow(step, at)]]
}

function stepWoken(woken: StepWoken): Op {
  const { status, data, error, eventId, at, runId, stepIndex } = woken
  const told = [
    status,
    data ?? null,
    error === undefined ? null : JSON.stringify(error),
    eventId ?? null,
  ] as const
  return ['step.wake', ...told, at, runId, stepIndex]
}
