// Checks failures at the end of a simulation: steps have as many attempts as their policy allows, and the records of runners and
// registrations have a reason for every failed run.

import type { RunView } from '../../../packages/engine/src/ports/store-reads.ts'
import { ensure } from '../core/violation.ts'
import { hashId } from '../workload/handler.ts'
import type { RunNode, WorkflowSpec } from '../workload/program.ts'
import { leaves } from '../workload/runner.ts'
import type { JudgedRun, Snapshot } from './snapshot.ts'

/** How many consecutive invokes may fail in transport before the run fails. */
const TRANSPORT_TRIES = 8

export function checkFailures(all: Snapshot): void {
  for (const record of all.runs.values()) {
    const { run } = record
    const spec = all.specs.find(({ name, app }) => name === run.workflow && app === run.app)
    checkAttempts(record, spec)
    if (run.status === 'failed') checkReason(all, record, spec)
    const known = run.runner === undefined || all.runnerIds.has(`${record.namespace} ${run.app} ${run.runner}`)
    ensure(
      known || run.status === 'cancelled' || run.error?.code === 'runner_not_registered',
      'a run pinned to nobody fails fast',
      () => JSON.stringify(run),
      [run.id],
    )
  }
}

function checkAttempts({ id, run, steps }: JudgedRun, spec: WorkflowSpec | undefined): void {
  for (const step of steps) {
    if (step.op !== 'StepRun' || step.carried || step.settledBy || spec === undefined) continue
    const node = nodeOf(step, run, spec)
    const detail = () => `${id}#${step.index} ${JSON.stringify(step)}: ${JSON.stringify(node)}`
    const { maxAttempts } = node?.retry ?? spec.retry
    const renews = pauses(run, spec)
    ensure(renews || step.attempt <= maxAttempts, 'a step is tried no more than its policy says', detail, [id])
    const given = node?.nonRetriable
    const isSpent = renews ? step.attempt % maxAttempts === 0 : step.attempt === maxAttempts
    ensure(
      step.status !== 'failed' || given || isSpent,
      'a step fails for good only when its attempts are spent',
      detail,
      [id],
    )
  }
}

/** Whether spent attempts pause the run. In an on-failure run they never do. */
function pauses(run: RunView, spec: WorkflowSpec | undefined): boolean {
  return run.failure === undefined && run.cleanupOf === undefined && spec?.whenExhausted === 'pause'
}

/** The callback of a step in its workflow. */
function nodeOf({ id }: { id: string }, run: RunView, spec: WorkflowSpec | undefined): RunNode | undefined {
  if (run.cleanupOf !== undefined) return undefined
  const nodes = spec ? leaves(run.failure === undefined ? spec.body : spec.failureBody) : []
  const node = nodes.find(each => hashId(each.id) === id)
  return node?.kind === 'run' ? node : undefined
}

function checkReason({ runnerRecord }: Snapshot, { id, run, steps }: JudgedRun, spec: WorkflowSpec | undefined): void {
  const detail = () => `${JSON.stringify(run)} ${JSON.stringify(steps)}`
  const { code, stepName } = run.error ?? { message: '' }
  const passes = runnerRecord.passes(id)
  if (code === 'step_failed') {
    const failed = steps.filter(({ name, status }) => name === stepName && status === 'failed')
    ensure(failed.length > 0, 'a run that a step failed has that step', detail, [id])
    const isSpent = failed.every(
      step => step.op === 'StepRun' && !step.settledBy && !nodeOf(step, run, spec)?.nonRetriable,
    )
    ensure(!isSpent || !pauses(run, spec), 'a run whose workflow pauses is not failed by spent attempts', detail, [id])
  } else if (code === 'runner_rejected' || code === 'nondeterministic') {
    const codes = passes.map(({ gaveCode }) => gaveCode)
    const isGiven = code === 'nondeterministic' ? codes.includes(code) : codes.every(given => given === undefined)
    ensure(isGiven, 'a run has the code that its runner gave', detail, [id])
  } else if (code === 'runner_unreachable') {
    ensure(passes.length >= TRANSPORT_TRIES, 'the transport has its budget', detail, [id])
  } else if (code === 'runner_not_registered') {
    ensure(run.runner !== undefined, 'only a pinned run misses its runner', detail, [id])
  } else ensure(passes.length > 0, 'a run fails by a pass', detail, [id])
}
