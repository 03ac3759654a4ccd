// Checks the characters of names. API callers' names are checked in http/request/validate, workflows' names in
// domain/pass/opcodes/event-name.

/** Invisible in a listing; a NUL or a lone surrogate also cannot be stored by every database. */
const FORBIDDEN = /[\p{Cc}\p{Cs}]/u

/** Whether the text has control characters or lone surrogates. */
export function hasForbiddenCharacters(text: string): boolean {
  return FORBIDDEN.test(text)
}

export function isBlank(text: string): boolean {
  return text.trim() === ''
}
