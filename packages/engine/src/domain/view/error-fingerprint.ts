// The fingerprint of a failed run's error: failures of one cause have the same (docs/errors.md#fingerprints). Stored with the run
// when it fails, and used by the list of runs and the list of errors.

import { hash } from 'node:crypto'
import { type Run, runKind } from '../model/run.ts'

/** Characters of a message that count. */
const MESSAGE_CHARS_MAX = 1000
const UUID = /\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi
const QUOTED = /"[^"]*"|`[^`]*`|(?<!\w)'[^']*'/g
/** Words of eight hexadecimal digits or more, and all that contain a digit: numbers, ids, versions. */
const NUMBERED = /\b(?:[0-9a-f]{8,}|\w*\d\w*)\b/gi
/** Addresses of mail and of the web, and paths of two parts or more: texts without a space. */
const ADDRESS =
  /[^\s"<>()]+@[^\s"<>(),;]+|\b[a-z][a-z+.-]*:\/\/[^\s"<>),;]+|(?<![\w.])(?:[A-Za-z]:)?(?:[\\/][\w.@~-]+){2,}/g
/** The value in `customer=Ada`. */
const ASSIGNED = /(?<=\b[A-Za-z_]\w*=)[^\s"=,;)]+/g
/** A word as names are written: an upper-case letter, then lower-case ones. `ECONNRESET` and `TypeError` are none. */
const NAME = "(?:\\p{Lu}['’])?\\p{Lu}\\p{Ll}+(?:[-'’]\\p{L}\\p{Ll}*)*(?![\\p{L}\\p{N}_])"
/** Names after a word of the same sentence, one or several, also with an initial. The first word of a sentence has its capital anyway. */
const NAMES = new RegExp(`(?<=[\\p{Ll}\\p{N}#\u2026",)] )${NAME}(?: (?:${NAME}|\\p{Lu}\\.))*`, 'gu')
/** A word in lower case: a message without one is a title, as `Bad Gateway`. */
const PLAIN_WORD = /(?<![\p{L}\p{N}])\p{Ll}/u

/** 16 hexadecimal digits; undefined unless the run has failed. */
export function errorFingerprint(run: Run): string | undefined {
  const { status, app, workflow, error } = run
  if (status !== 'failed' || !error) return undefined
  const { stepName, name, code, message } = error
  const kind = runKind(run)
  const parts = [app, workflow, stepName ?? null, name ?? null, code ?? null, maskedMessage(message)]
  // A failure handler that fails is another cause, even with the same error.
  if (kind !== 'run') parts.push(kind)
  return hash('sha256', JSON.stringify(parts)).slice(0, 16)
}

/** The message without what differs from failure to failure: quoted texts, addresses, paths, numbers, ids and names. */
export function maskedMessage(message: string): string {
  const masked = message
    .slice(0, MESSAGE_CHARS_MAX)
    .replace(QUOTED, '"…"')
    .replace(ADDRESS, '…')
    .replace(ASSIGNED, '…')
    .replace(UUID, '#')
    .replace(NUMBERED, '#')
  return PLAIN_WORD.test(masked) ? masked.replace(NAMES, '…') : masked
}
