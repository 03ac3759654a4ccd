// Masks the parts of a message that differ from failure to failure, so that failures with one cause have the same text. Called
// for the fingerprint.

/** Number of characters of a message that count. */
const MESSAGE_CHARS_MAX = 1000
const UUID = /\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi
const QUOTED = /"[^"]*"|`[^`]*`|(?<!\w)'[^']*'/g
/** Words of eight or more hexadecimal digits, and all words with a digit: numbers, ids, versions. */
const NUMBERED = /\b(?:[0-9a-f]{8,}|\w*\d\w*)\b/gi
/** Addresses of mail and of the web, and paths of two or more parts: texts without a space. */
const ADDRESS =
  /[^\s"<>()]+@[^\s"<>(),;]+|\b[a-z][a-z+.-]*:\/\/[^\s"<>),;]+|(?<![\w.])(?:[A-Za-z]:)?(?:[\\/][\w.@~-]+){2,}/g
/** The value in `customer=Ada`. */
const ASSIGNED = /(?<=\b[A-Za-z_]\w*=)[^\s"=,;)]+/g
/** A word in the form of a name: an upper-case letter, then lower-case ones. `ECONNRESET` and `TypeError` have another form. */
const NAME = "(?:\\p{Lu}['’])?\\p{Lu}\\p{Ll}+(?:[-'’]\\p{L}\\p{Ll}*)*(?![\\p{L}\\p{N}_])"
/**
 * One or more names, also with an initial, after a word of the same sentence. The first word of a sentence has a capital
 * anyway.
 */
const NAMES = new RegExp(`(?<=[\\p{Ll}\\p{N}#\u2026",)] )${NAME}(?: (?:${NAME}|\\p{Lu}\\.))*`, 'gu')
/** A word in lower case: a message without such a word is a title, as `Bad Gateway`. */
const PLAIN_WORD = /(?<![\p{L}\p{N}])\p{Ll}/u

/** The message without the parts that differ from failure to failure: quoted texts, addresses, paths, numbers, ids and names. */
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
