// Checks direct starts at the end of a simulation: each step or caller starts one run, or gets the live run that has its key
// (docs/steps.md#starting-runs, docs/concepts.md#one-live-run-per-key).

import type { Step } from '../../../packages/engine/src/domain/model/step.ts'
import { ensure } from '../core/violation.ts'
import { type Found, hashId } from '../workload/handler.ts'
import type { DirectStart } from '../workload/journal.ts'
import { leaves } from '../workload/runner.ts'
import type { JudgedRun, Snapshot } from './snapshot.ts'
import { tokenOf } from './step-checks.ts'

export function checkStarts(all: Snapshot): void {
  const byStep = new Map<string, JudgedRun[]>()
  const byToken = new Map<string, JudgedRun[]>()
  for (const record of all.runs.values()) {
    const { startedBy, input, ...run } = record.run
    const follows = run.replayOf ?? run.continuedFrom ?? run.cleanupOf ?? run.failure
    if (follows !== undefined) continue
    const { step } = JSON.parse(input ?? 'null') ?? {}
    if (startedBy) add(byStep, `${startedBy.runId} ${step}`, record)
    else if (run.eventId === undefined && run.parentRunId === undefined) add(byToken, tokenOf(input) ?? '', record)
  }
  for (const record of all.runs.values()) for (const step of record.steps) checkStep(all, { record, step, byStep })
  for (const sent of all.journal.starts) checkSent(all, sent, byToken.get(sent.token) ?? [])
  const known = new Set(all.journal.starts.map(({ token }) => token))
  for (const [step, started] of byStep)
    ensure(started.length === 0, 'no run is started without its step', () => `${step}: ${JSON.stringify(started)}`)
  for (const token of byToken.keys()) ensure(known.has(token), 'no run is started that nobody requested', () => token)
}

function add(map: Map<string, JudgedRun[]>, key: string, record: JudgedRun): void {
  map.set(key, [...(map.get(key) ?? []), record])
}

/** Checks a step that started a run, and removes that run from `byStep`. */
function checkStep(
  all: Snapshot,
  { record, step, byStep }: { record: JudgedRun; step: Step; byStep: Map<string, JudgedRun[]> },
): void {
  if (step.op !== 'StartRun' || step.carried || step.settledBy) return
  const node = nodeOf(all, record, step)
  const origin = `${record.id} ${node.id}`
  const started = byStep.get(origin) ?? []
  byStep.delete(origin)
  const detail = () => `${record.id}#${step.index} ${JSON.stringify(step)}: ${JSON.stringify(started)}`
  const subjects = [record.id, ...started.map(({ id }) => id)]
  const { runId, existing } = (JSON.parse(step.data ?? 'null') ?? {}) as { runId?: string; existing?: boolean }
  const isOwn = step.status === 'succeeded' && existing === false
  ensure(
    started.length === (isOwn ? 1 : 0),
    'a step starts one run, or none if it got or met another',
    detail,
    subjects,
  )
  if (step.status !== 'succeeded') return
  const run = all.runs.get(runId ?? '')?.run
  const isIts = run?.workflow === node.workflow && run.namespace === record.namespace && run.startKey === node.key
  ensure(isIts && runId === step.startedRunId, 'a step names the run that it started or got', detail, subjects)
  ensure(!isOwn || run.id === started[0]?.id, 'a step names the run that it started', detail, subjects)
  ensure(isOwn || (node.ifRunning ?? 'use') === 'use', 'only a start that uses a live run gets one', detail, subjects)
  ensure(run.parentRunId === undefined, 'a started run has no parent', detail, subjects)
}

function nodeOf({ specs }: Snapshot, { run }: JudgedRun, { id }: Step): Extract<Found, { kind: 'start' }> {
  const spec = specs.find(({ name, app }) => name === run.workflow && app === run.app)
  const node = leaves(spec?.body ?? []).find(each => hashId(each.id) === id)
  ensure(node?.kind === 'start', 'a step is one of its workflow', () => `${run.id} ${id}`, [run.id])
  return node
}

/** The answer to a direct start names its own run, or a live run with its key. */
function checkSent(all: Snapshot, sent: DirectStart, started: readonly JudgedRun[]): void {
  const { token, status = 500, runId = '', key } = sent
  const named = all.runs.get(runId)
  const detail = () => `${JSON.stringify(sent)}: ${JSON.stringify(started)}; ${JSON.stringify(named?.run)}`
  const subjects = [token, runId]
  const [own] = started
  ensure(started.length <= 1, 'a direct start starts one run', detail, subjects)
  if (status === 201) ensure(own?.id === runId && own.run.startKey === key, 'a start has its run', detail, subjects)
  if (status !== 200 && status !== 409) return
  ensure(started.length === 0, 'a start that meets a live run starts none', detail, subjects)
  const isItsWorkflow = named?.run.workflow === sent.workflow && named.run.app === sent.app
  ensure(isItsWorkflow && named.namespace === sent.namespace, 'a live run is of the workflow', detail, subjects)
  const wasLive = (named.terminalSince ?? Infinity) >= sent.askedAt
  ensure(wasLive, 'a start meets only a run that is live', detail, subjects)
  if (status === 200) ensure(named.run.startKey === key, 'a start gets the run with its key', detail, subjects)
}
