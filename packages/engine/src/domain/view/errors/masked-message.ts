// Masks the parts of a message that differ from failure to failure, so that failures of one cause have the same text. Called for the
// fingerprint.

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

/** The message without what differs from failure to failure: quoted texts, addresses, paths, numbers, ids and names. */
export function maskedMessage(message: string): string {
  const unquoted = message
    .slice(0, MESSAGE_CHARS_MAX)
    .replace(QUOTED, '"…"')
    .replace(ADDRESS, '…')
    .replace(ASSIGNED, '…')
    .replace(UUID, '#')
  const masked = maskedWords(unquoted)
  return PLAIN_WORD.test(masked) ? masked.replace(NAMES, '…') : masked
}

/** The text without words that contain a digit, and without long hexadecimal ones. */
export function maskedWords(text: string): string {
  return text.replace(NUMBERED, '#')
}
