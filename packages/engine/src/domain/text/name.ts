// What a name may be made of, whoever gives it: a caller of the API (http/validate) or a workflow (domain/pass/opcodes/names).

// Invisible in a listing and, as a NUL or a lone surrogate, no text that every database can store.
const FORBIDDEN = /[\p{Cc}\p{Cs}]/u

/** Whether the text has control characters or lone surrogates. */
export function hasForbiddenCharacters(text: string): boolean {
  return FORBIDDEN.test(text)
}

export function isBlank(text: string): boolean {
  return text.trim() === ''
}
