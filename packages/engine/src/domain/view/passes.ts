// The passes of a run, assembled from the steps they reported and the frames of failed ones (docs/concepts.md#passes). Called
// by services/run/passes.

import type { RunError } from '@perdure/protocol'
import { isTerminal, type Run } from '../model/run.ts'
import type { PassSent, Step } from '../model/step.ts'

/** The state of a step after one pass. */
export type PassStep = Pick<Step, 'index' | 'id' | 'name' | 'attempt' | 'status'>

/** A stored report of a pass: about a step, or about the failure of the pass. */
export interface PassReport extends PassSent {
  /** When it was stored. */
  at: number
  step?: PassStep
  error?: RunError
}

/** The part of a run that determines its passes. */
export type RunOfPasses = Pick<Run, 'status' | 'finishedAt' | 'lastPass' | 'error'>

export type PassOutcome = 'running' | 'steps' | 'returned' | 'failed' | 'none'

export interface PassView extends PassSent {
  /** When its last report was stored. */
  answeredAt?: number
  outcome: PassOutcome
  /** The attempt of the run when the pass was sent. */
  attempt: number
  steps: PassStep[]
  error?: RunError
}

export interface PassFacts {
  run: RunOfPasses
  /** The stored reports of the passes of a page, in the order of the passes. */
  reports: readonly PassReport[]
  /** How many earlier passes had a failure. */
  failedBefore: number
  /** The last pass of the page; the newest one if nothing limits the page. */
  upTo: number
  /** The pass under way. */
  underWay?: PassSent | undefined
}

/** The passes of a page, oldest first. */
export function passViews(facts: PassFacts): PassView[] {
  const passes = new Map<number, PassView>()
  const view = ({ pass, runner, passSentAt }: PassSent): PassView => {
    const known = passes.get(pass)
    if (known) return known
    const made: PassView = { pass, runner, passSentAt, outcome: 'none', attempt: 1, steps: [] }
    passes.set(pass, made)
    return made
  }
  for (const report of facts.reports) addReport(view(report), report)
  const { run, underWay, upTo } = facts
  if (run.lastPass && run.lastPass.pass <= upTo) endRun(view(run.lastPass), run)
  if (underWay && underWay.pass <= upTo && !isTerminal(run.status)) {
    const running = view(underWay)
    running.outcome = 'running'
    delete running.answeredAt
  }
  const ordered = [...passes.values()].sort((a, b) => a.pass - b.pass)
  countAttempts(ordered, facts.failedBefore)
  return ordered
}

function addReport(pass: PassView, { at, step, error }: PassReport): void {
  pass.answeredAt = Math.max(at, pass.answeredAt ?? at)
  if (error) pass.error = error
  if (!step) {
    if (pass.steps.length === 0) pass.outcome = 'failed'
    return
  }
  pass.outcome = 'steps'
  // A failed attempt is in its frame and, until the next attempt, also in the step.
  if (!pass.steps.some(({ index, attempt }) => index === step.index && attempt === step.attempt)) pass.steps.push(step)
}

/** The pass that ended the run has no stored report if it reported no step. */
function endRun(pass: PassView, { status, finishedAt, error }: RunOfPasses): void {
  if (status === 'succeeded') {
    pass.outcome = 'returned'
    if (finishedAt !== undefined) pass.answeredAt = finishedAt
  } else if (status === 'failed' && pass.outcome === 'none') {
    pass.outcome = 'failed'
    if (finishedAt !== undefined) pass.answeredAt = finishedAt
    if (error) pass.error = error
  }
}

/** The attempt of a run rises by one after each pass with a failure. */
function countAttempts(passes: readonly PassView[], failedBefore: number): void {
  let attempt = 1 + failedBefore
  for (const pass of passes) {
    pass.attempt = attempt
    if (hasFailure(pass)) attempt++
  }
}

function hasFailure({ outcome, error, steps }: PassView): boolean {
  return outcome === 'failed' || error !== undefined || steps.some(({ status }) => status === 'retrying')
}
