// When a runner executed an attempt: its own measurement, from the start of its pass, placed on the engine's clock. Called by
// step-run.ts.

import type { Step } from '../../model/step.ts'
import type { PassContext } from './context.ts'
import type { PassOpcodeOf } from './opcode.ts'

/**
 * The times of an attempt, within its pass: clocks of runners run at their own speed, and the engine's may be set. Nothing
 * that the runner did not measure.
 */
export function ranTimes(
  { offsetMs, durationMs }: Pick<PassOpcodeOf<'StepRun'>, 'offsetMs' | 'durationMs'>,
  { sent, now }: Pick<PassContext, 'sent' | 'now'>,
): Pick<Step, 'ranAt' | 'ranMs'> {
  if (!sent || offsetMs === undefined || durationMs === undefined) return NOT_MEASURED
  const sentAt = Math.min(sent.passSentAt, now)
  const ranAt = Math.min(now, sentAt + Math.round(offsetMs))
  return { ranAt, ranMs: Math.min(now - ranAt, Math.round(durationMs)) }
}

const NOT_MEASURED: Pick<Step, 'ranAt' | 'ranMs'> = { ranAt: undefined, ranMs: undefined }
