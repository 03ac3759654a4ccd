// Checks the effects of runs at the end of a simulation: one emit and one webhook for each step, children started and
// answered once, one on-failure run for each failure, and forks with the right input and steps
// (docs/promises.md#runs).

import type { Step } from '../../../packages/engine/src/domain/model/step.ts'
import { ensure, same } from '../core/violation.ts'
import { hashId } from '../workload/handler.ts'
import { chainOf, checkChains, checkRunWaits, lastOfChain } from './chain-checks.ts'
import { isDone, type RunRecord } from './record.ts'
import type { Snapshot } from './snapshot.ts'

type Origin = { run: string; step: string }

export function checkEffects(all: Snapshot): void {
  checkChains(all)
  checkRunWaits(all)
  checkEmits(all)
  checkChildren(all)
  checkFailureRuns(all)
  checkForks(all)
  checkPauses(all)
}

/** Only resuming ends a pause. */
function checkPauses({ runs, journal }: Snapshot): void {
  for (const { id, frames } of runs.values()) {
    const statuses = frames.flatMap(frame => (frame.kind === 'run_status' ? [frame.status] : []))
    const lifted = statuses.filter((status, i) => status === 'queued' && statuses[i - 1] === 'paused').length
    // A call without an answer may have reached the engine.
    const requested = journal.controls.filter(
      ({ runId, action, status = 500 }) => runId === id && action === 'resume' && (status < 400 || status >= 500),
    )
    ensure(lifted <= requested.length, 'a pause is lifted by a resume', () => `${id}: ${statuses.join(' ')}`, [id])
  }
}

/** One event for each emit step, and no emitted event without a step. */
function checkEmits(all: Snapshot): void {
  const emitted = new Set<string>()
  for (const event of all.events.values()) {
    if (event.source !== 'emit') continue
    const { run: runId, step: stepId } = JSON.parse(event.data ?? 'null') as Origin
    const record = all.runs.get(runId)
    const step = record?.steps.find(({ id }) => id === hashId(stepId))
    const detail = () => `${JSON.stringify(event)}: ${JSON.stringify(step)}`
    const key = `${runId} ${stepId}`
    ensure(!emitted.has(key), 'an emit happens once per step', detail, [runId, event.id])
    emitted.add(key)
    ensure(step?.op === 'Emit' && step.emittedEventId === event.id, 'an emitted event belongs to a step', detail, [
      runId,
      event.id,
    ])
    ensure(
      event.app === record?.run.app && event.namespace === record?.namespace,
      "an emitted event is recorded under its run's app",
      detail,
      [runId, event.id],
    )
  }
  for (const { id, steps } of all.runs.values()) {
    for (const step of steps) {
      if (step.op !== 'Emit') continue
      ensure(
        step.status === 'succeeded' && all.events.has(step.emittedEventId ?? ''),
        'an emit that is recorded is in the log',
        () => `${id}#${step.index}: ${JSON.stringify(step)}`,
        [id],
      )
    }
  }
}

/** A child is started once and answered once, with its outcome. */
function checkChildren(all: Snapshot): void {
  const children = new Set<string>()
  for (const { id, run, steps } of all.runs.values()) {
    for (const step of steps) {
      if (step.op !== 'RunWorkflow' || step.childRunId === undefined) continue
      const first = all.runs.get(step.childRunId)
      const child = first && lastOfChain(all, first)
      const detail = () => `${id}#${step.index} ${JSON.stringify(step)}: ${JSON.stringify(child?.run)}`
      const subjects = [id, step.childRunId]
      ensure(child, 'a child that was started exists', detail, subjects)
      if (step.carried) continue
      for (const link of chainOf(all, first as RunRecord)) children.add(link.id)
      ensure(
        child.run.parentRunId === id && child.run.parentStepIndex === step.index && child.namespace === run.namespace,
        'a child knows its parent',
        detail,
        subjects,
      )
      ensure(
        step.status !== 'cancelled' || child.run.status === 'cancelled',
        'what a run left open is cancelled, children too',
        detail,
        subjects,
      )
      checkAnswer(step, child.run, detail, subjects)
    }
  }
  for (const { id, run } of all.runs.values()) {
    const isChild = run.parentRunId !== undefined && run.failure === undefined && run.cleanupOf === undefined
    ensure(!isChild || children.has(id), 'no child without the step that started it', () => JSON.stringify(run), [id])
  }
}

function checkAnswer(
  step: Step,
  child: { status: string; result?: string; error?: { message: string } },
  detail: () => string,
  subjects: string[],
): void {
  if (!isDone(step) || step.status === 'cancelled' || step.settledBy) return
  const holds =
    step.status === 'succeeded'
      ? child.status === 'succeeded' && same(step.data, child.result)
      : child.status === 'cancelled' || (child.status === 'failed' && step.error?.message === child.error?.message)
  ensure(holds, 'a parent is answered with what became of its child', detail, subjects)
}

/**
 * One on-failure run for each failure of a workflow that has it enabled, and none for the failure of an on-failure
 * run.
 */
function checkFailureRuns({ runs, specs }: Snapshot): void {
  const following = new Map<string, string[]>()
  for (const { id, run } of runs.values()) {
    if (run.failure === undefined || run.replayOf !== undefined) continue
    const failed = run.parentRunId ?? ''
    following.set(failed, [...(following.get(failed) ?? []), id])
    const source = runs.get(failed)?.run
    ensure(
      source?.status === 'failed' && source.workflow === run.workflow && same(source.input, run.input),
      'an on-failure run follows a failure',
      () => `${JSON.stringify(run)}: ${JSON.stringify(source)}`,
      [id, failed],
    )
  }
  for (const { id, run } of runs.values()) {
    const spec = specs.find(each => each.name === run.workflow && each.app === run.app)
    const mayFollow = run.failure === undefined && run.cleanupOf === undefined
    const expected = run.status === 'failed' && mayFollow && spec?.onFailure ? 1 : 0
    const found = following.get(id) ?? []
    ensure(found.length === expected, 'on-failure happens once', () => `${JSON.stringify(run)}: ${found}`, [
      id,
      ...found,
    ])
  }
}

/** A fork is a new run of the same workflow; a retry carries the results of the steps before its step. */
function checkForks({ runs, journal }: Snapshot): void {
  for (const { id, run, steps } of runs.values()) {
    if (run.replayOf === undefined) continue
    const source = runs.get(run.replayOf)
    const detail = () => `${JSON.stringify(run)} of ${JSON.stringify(source?.run)}`
    ensure(
      source && run.workflow === source.run.workflow && run.app === source.run.app,
      'a fork copies its source',
      detail,
      [id],
    )
    ensure(
      journal.controls.some(
        call => call.runId === run.replayOf && (call.action === 'replay' || call.action === 'retry-from-step'),
      ),
      'nothing is forked that nobody requested for',
      detail,
      [id],
    )
    const call = journal.controls.find(({ answeredRunId }) => answeredRunId === id)
    const override = (call?.body as { input?: unknown } | undefined)?.input
    const input = override === undefined ? source.run.input : JSON.stringify(override)
    ensure(call === undefined || run.input === input, 'a fork has the input of its source or its own', detail, [id])
    for (const step of steps) if (step.carried) checkCarried(step, source, id)
  }
}

function checkCarried(step: Step, source: RunRecord, id: string): void {
  const original = source.steps.find(each => each.id === step.id)
  ensure(
    original && same([original.status, original.data, original.error], [step.status, step.data, step.error]),
    'a carried step is that of its source',
    () => `${id}#${step.index} ${JSON.stringify(step)}: ${JSON.stringify(original)}`,
    [id, source.id],
  )
}
