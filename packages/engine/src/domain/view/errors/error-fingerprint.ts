// The fingerprint of a failed run's error: failures with one cause have the same fingerprint (docs/errors.md#fingerprints).
// Stored with the run when it fails, and used by the list of runs and the list of errors.

import { hash } from 'node:crypto'
import { type Run, runKind } from '../../model/run.ts'
import { maskedMessage } from './masked-message.ts'
import { ownStackFrames } from './own-stack-frames.ts'

export const isFingerprint = (text: string) => /^[0-9a-f]{16}$/.test(text)

/** 16 hexadecimal digits; undefined unless the run has failed. */
export function errorFingerprint(run: Run): string | undefined {
  const { status, app, workflow, error } = run
  if (status !== 'failed' || !error) return undefined
  const { stepName, name, code, message, stack } = error
  const kind = runKind(run)
  const parts: (string | null | string[])[] = [
    app,
    workflow,
    stepName ?? null,
    name ?? null,
    code ?? null,
    maskedMessage(message),
  ]
  // A failing failure handler is another cause, even with the same error.
  if (kind !== 'run') parts.push(kind)
  // The code that threw an error distinguishes it from others with the same message. If there are no stack frames, the
  // fingerprint is the same as in older versions.
  const frames = ownStackFrames(stack, message)
  if (frames.length > 0) parts.push(frames)
  return hash('sha256', JSON.stringify(parts)).slice(0, 16)
}
