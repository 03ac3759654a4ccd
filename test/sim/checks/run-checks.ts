// Checks runs: an ended run never changes, and a run that has not ended will be looked at again
// (docs/promises.md#runs).

import type { RunView } from '../../../packages/engine/src/ports/store-reads.ts'
import { ensure, same } from '../core/violation.ts'
import type { Wall } from '../ports/life.ts'
import { isDone, isEnded, type RunRecord, SETTLED_OUTSIDE, waitsForSlot } from './record.ts'

const IDENTITY = [
  'id',
  'namespace',
  'workflow',
  'app',
  'triggerKind',
  'eventName',
  'eventId',
  'replayOf',
  'parentRunId',
  'parentStepIndex',
  'runner',
  'trigger',
  'failure',
  'input',
  'createdAt',
] as const satisfies readonly (keyof RunView)[]

/** Compares two successive reads of a run. */
export function checkRunKept(before: RunView | undefined, now: RunView): void {
  if (before === undefined) return
  const subjects = [now.id]
  for (const field of IDENTITY) {
    ensure(
      same(before[field], now[field]),
      'a run keeps its identity',
      () => `${field} of ${now.id} was ${JSON.stringify(before[field])}, is ${JSON.stringify(now[field])}`,
      subjects,
    )
  }
  if (isEnded(before)) {
    ensure(
      same(before, now),
      'a terminal run never changes',
      () => `${now.id} was ${JSON.stringify(before)}, is ${JSON.stringify(now)}`,
      subjects,
    )
  }
  ensure(
    before.attempt <= now.attempt,
    'attempts never reset',
    () => `${now.id}: ${before.attempt}, ${now.attempt}`,
    subjects,
  )
  ensure(before.fence <= now.fence, 'fences only rise', () => `${now.id}: ${before.fence}, ${now.fence}`, subjects)
  ensure(
    before.startedAt === undefined || before.startedAt === now.startedAt,
    'a run starts once',
    () => `${now.id}: ${before.startedAt}, ${now.startedAt}`,
    subjects,
  )
}

/** Checks one read of a run. */
export function checkRunWhole(run: RunView, { wasSet }: Wall): void {
  const detail = () => JSON.stringify(run)
  const { createdAt, startedAt = createdAt, finishedAt = startedAt } = run
  ensure(wasSet || (createdAt <= startedAt && startedAt <= finishedAt), 'a run begins before it ends', detail, [run.id])
  if (!isEnded(run)) {
    ensure(run.finishedAt === undefined, 'only what ended has an end', detail, [run.id])
    return
  }
  ensure(run.finishedAt !== undefined, 'what ended has an end', detail, [run.id])
  ensure(
    run.availableAt === undefined && run.leaseOwner === undefined && run.waitingFor === undefined,
    'what ended is not scheduled',
    detail,
    [run.id],
  )
  ensure((run.error !== undefined) === (run.status === 'failed'), 'an error means failed', detail, [run.id])
  ensure(run.result === undefined || run.status === 'succeeded', 'a result means succeeded', detail, [run.id])
}

/** The newest run of a chain, as far as the chain was read. */
function newestOfChain(id: string, runOf: (id: string) => RunRecord | undefined): RunRecord | undefined {
  const record = runOf(id)
  return record?.run?.continuedAs === undefined ? record : newestOfChain(record.run.continuedAs, runOf)
}

/** A run that has not ended has a reason to wake. `childOf` looks up another run. */
export function checkReason(record: RunRecord, childOf: (runId: string) => RunRecord | undefined): void {
  const { run, steps } = record
  if (run === undefined || isEnded(run)) return
  const detail = () => `${JSON.stringify(run)} with ${JSON.stringify(steps.filter(step => !isDone(step)))}`
  const open = steps.filter(step => step.status === 'waiting')
  for (const step of open) {
    if (step.childRunId === undefined) continue
    const child = newestOfChain(step.childRunId, childOf)
    ensure(
      child?.run && !isEnded(child.run),
      'a child that ended has answered its parent',
      () => `${step.childRunId} is ${child?.run?.status}; its parent: ${detail()}`,
      [run.id, step.childRunId],
    )
  }
  // The turns of other steps wake a step that waits for its own turn.
  const wakes = open.some(step => SETTLED_OUTSIDE.has(step.op) || step.limit !== undefined)
  ensure(
    run.availableAt !== undefined || run.status === 'paused' || wakes || waitsForSlot(run),
    'every run that has not ended has a reason to wake',
    detail,
    [run.id],
  )
  ensure(run.leaseOwner === undefined || run.availableAt !== undefined, 'a lease runs out', detail, [run.id])
  checkDeadline(record, detail)
}

/** A parked run wakes at its earliest deadline. */
function checkDeadline({ run, steps }: RunRecord, detail: () => string): void {
  // A run with a requested cancel is due at once, whatever its timers.
  if (run === undefined || run.leaseOwner !== undefined || run.cancelRequested) return
  const parked =
    run.status === 'waiting' && !(run.waitingFor?.kind === 'retry' && run.waitingFor.stepName === undefined)
  if (!parked && run.status !== 'paused') return
  const deadlines = steps.flatMap(step => (step.status === 'waiting' && step.wakeAt !== undefined ? [step.wakeAt] : []))
  const earliest = Math.min(...deadlines)
  ensure(
    deadlines.length === 0 || (run.availableAt !== undefined && run.availableAt <= earliest),
    'a parked run wakes at the earliest deadline',
    () => `due ${earliest}: ${detail()}`,
    [run.id],
  )
}
