// The ended attempts of a step, from the frames of failed ones and the row of the last one. Called by the routes of steps.

import { isSettled, type PassSent, type RanTimes, type Step, type StepStatus } from '../model/step.ts'

/** A frame of a step that ends an attempt: the attempt failed and will be retried, or the step settled. */
export interface AttemptFrame extends Pick<Step, 'status' | 'attempt' | 'error'>, Partial<PassSent & RanTimes> {
  stepIndex: number
  ts: number
}

type Reported = Pick<Step, 'attempt' | 'error' | 'pass' | 'runner' | 'ranAt' | 'ranMs'>

/** An attempt that has ended. */
export interface StepAttempt extends Reported {
  status: 'succeeded' | 'failed' | 'cancelled'
  endedAt: number
}

/** The ended attempts, oldest first. */
export function attemptsOf(step: Step, frames: readonly AttemptFrame[]): StepAttempt[] {
  const attempts = new Map<number, StepAttempt>()
  for (const { status, ts, ...frame } of frames) {
    // After a resume a failed attempt is `retrying` again: the attempt's first frame has the time of its end.
    if (!attempts.has(frame.attempt)) attempts.set(frame.attempt, ended(frame, status, ts))
  }
  const { attempt, status, finishedAt } = step
  // A step that was cancelled between two attempts ends no attempt.
  if (isSettled(status) && finishedAt !== undefined && !attempts.has(attempt)) {
    attempts.set(attempt, ended(step, status, finishedAt))
  }
  return [...attempts.values()]
}

function ended(reported: Reported, status: StepStatus, endedAt: number): StepAttempt {
  const { attempt, error, pass, runner, ranAt, ranMs } = reported
  return { attempt, status: endOf(status), endedAt, error, pass, runner, ranAt, ranMs }
}

function endOf(status: StepStatus): StepAttempt['status'] {
  return status === 'succeeded' || status === 'cancelled' ? status : 'failed'
}
