// Promises about failing, judged at the end: steps are tried as often as their policy says, and a run that failed
// had a reason that runners and registrations bear out.

import { ensure } from '../core/violation.ts'
import { hashId } from '../workload/handler.ts'
import type { WorkflowSpec } from '../workload/program.ts'
import { leaves } from '../workload/runner.ts'
import type { JudgedRun, Snapshot } from './snapshot.ts'

/** Decisions, "Retries": what a pass may fail in a row on its way before its run fails. */
const TRANSPORT_TRIES = 8

export function checkFailures(all: Snapshot): void {
  for (const record of all.runs.values()) {
    const { run } = record
    const spec = all.specs.find(({ name, app }) => name === run.workflow && app === run.app)
    checkAttempts(record, spec)
    if (run.status === 'failed') checkReason(all, record)
    const known =
      run.runner === undefined || all.runnerIds.has(`${record.namespace} ${run.app} ${run.runner}`)
    ensure(
      known || run.status === 'cancelled' || run.error?.code === 'runner_not_registered',
      'a run pinned to nobody fails fast',
      () => JSON.stringify(run),
      [run.id],
    )
  }
}

function checkAttempts({ id, run, steps }: JudgedRun, spec: WorkflowSpec | undefined): void {
  const nodes = spec ? leaves(run.failure === undefined ? spec.body : spec.failureBody) : []
  for (const step of steps) {
    if (step.op !== 'StepRun' || step.carried || spec === undefined) continue
    const node = nodes.find(each => hashId(each.id) === step.id)
    const tell = () => `${id}#${step.index} ${JSON.stringify(step)}: ${JSON.stringify(node)}`
    const { maxAttempts } = spec.retry
    ensure(step.attempt <= maxAttempts, 'a step is tried no more than its policy says', tell, [id])
    const given = node?.kind === 'run' && node.nonRetriable
    ensure(
      step.status !== 'failed' || given || step.attempt === maxAttempts,
      'a step fails for good only when its attempts are spent',
      tell,
      [id],
    )
  }
}

function checkReason({ runnerRecord }: Snapshot, { id, run, steps }: JudgedRun): void {
  const tell = () => `${JSON.stringify(run)} ${JSON.stringify(steps)}`
  const { code, stepName } = run.error ?? { message: '' }
  const passes = runnerRecord.passes(id)
  if (code === 'step_failed') {
    ensure(
      steps.some(({ name, status }) => name === stepName && status === 'failed'),
      'a run that a step failed has that step',
      tell,
      [id],
    )
  } else if (code === 'runner_unreachable') {
    ensure(passes.length >= TRANSPORT_TRIES, 'the transport has its budget', tell, [id])
  } else if (code === 'runner_not_registered') {
    ensure(run.runner !== undefined, 'only a pinned run misses its runner', tell, [id])
  } else ensure(passes.length > 0, 'a run fails by a pass', tell, [id])
}
