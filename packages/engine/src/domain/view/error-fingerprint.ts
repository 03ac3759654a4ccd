// The fingerprint of a failed run's error: failures of one cause have the same (docs/errors.md#fingerprints). Stored with the run
// when it fails, and used by the list of runs and the list of errors.

import { hash } from 'node:crypto'
import type { Run } from '../model/run.ts'

/** Characters of a message that count. */
const MESSAGE_CHARS_MAX = 1000
const UUID = /\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi
const QUOTED = /"[^"]*"|`[^`]*`|(?<!\w)'[^']*'/g
/** Words of eight hexadecimal digits or more, and all that contain a digit: numbers, ids, versions. */
const NUMBERED = /\b(?:[0-9a-f]{8,}|\w*\d\w*)\b/gi

/** 16 hexadecimal digits; undefined unless the run has failed. */
export function errorFingerprint({ status, app, workflow, error }: Run): string | undefined {
  if (status !== 'failed' || !error) return undefined
  const { stepName, name, code, message } = error
  const parts = [app, workflow, stepName ?? null, name ?? null, code ?? null, maskedMessage(message)]
  return hash('sha256', JSON.stringify(parts)).slice(0, 16)
}

/** The message without what differs from failure to failure: quoted texts, numbers and ids. */
export function maskedMessage(message: string): string {
  return message.slice(0, MESSAGE_CHARS_MAX).replace(QUOTED, '"…"').replace(UUID, '#').replace(NUMBERED, '#')
}
