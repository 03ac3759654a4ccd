// The attempts of a step that have ended, from the frames of those that failed and the row of the last one. Called by the
// routes of steps.

import type { StepError } from '@perdure/protocol'
import { isSettled, type Step, type StepStatus } from '../model/step.ts'

/** A frame of a step that ends an attempt: the attempt failed and is retried, or the step settled. */
export interface AttemptFrame {
  stepIndex: number
  ts: number
  status: StepStatus
  attempt: number
  error?: StepError
}

/** An attempt that has ended. */
export interface StepAttempt {
  attempt: number
  status: 'succeeded' | 'failed' | 'cancelled'
  endedAt: number
  error?: StepError | undefined
}

/** The ended attempts, oldest first. */
export function attemptsOf(step: Step, frames: readonly AttemptFrame[]): StepAttempt[] {
  const attempts = frames.map(({ attempt, status, ts, error }): StepAttempt => {
    return { attempt, status: endOf(status), endedAt: ts, error }
  })
  const { attempt, status, finishedAt, error } = step
  const isKnown = attempts.at(-1)?.attempt === attempt
  // A step that is cancelled between two attempts ends none.
  if (!isSettled(status) || isKnown || finishedAt === undefined) return attempts
  return [...attempts, { attempt, status: endOf(status), endedAt: finishedAt, error }]
}

function endOf(status: StepStatus): StepAttempt['status'] {
  return status === 'succeeded' || status === 'cancelled' ? status : 'failed'
}
