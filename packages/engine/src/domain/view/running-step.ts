// A step whose callback is running, as its runner reported (docs/wire-protocol.md#running-steps). The engine that drives the
// run knows it, only in memory; it is never stored.

import { nextAttempt, type Step, type StepStatus } from '../model/step.ts'

export interface RunningStep {
  /** Hashed step id. */
  id: string
  name: string
  /** When the callback began, by the engine's clock. */
  startedAt: number
  /** Its place after the steps that were stored when it was read. */
  index: number
}

/** The step as reads show it: a stored step that runs again, or one of which nothing is stored. */
export function asStep(
  { id, name, startedAt, index }: RunningStep,
  { runId, stored }: { runId: string; stored: Step | undefined },
): Step {
  const status: StepStatus = 'running'
  if (!stored) return { runId, id, name, op: 'StepRun', index, status, attempt: 1, seq: 0, startedAt, ranAt: startedAt }
  const { nextAttemptAt: _, error: _error, ranMs: _ranMs, ...kept } = stored
  return { ...kept, status, attempt: nextAttempt(stored), ranAt: startedAt }
}
