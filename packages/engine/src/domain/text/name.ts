// Checks the characters of names. API callers' names are checked in http/request/validate, workflows' names in
// domain/pass/names/event-name.

import { ENGINE_EVENT_PREFIX } from '@perdure/protocol'

/** Invisible in a listing; a NUL or a lone surrogate also cannot be stored by every database. */
const FORBIDDEN = /[\p{Cc}\p{Cs}]/u

/** Whether the text has control characters or lone surrogates. */
export function hasForbiddenCharacters(text: string): boolean {
  return FORBIDDEN.test(text)
}

export function isBlank(text: string): boolean {
  return text.trim() === ''
}

/** The problem of such a name in an event that somebody else sends. */
export const ENGINE_EVENT_FAULT = `must not begin with ${ENGINE_EVENT_PREFIX}: only the engine sends such events`

/** Whether only the engine sends events of this name, or events that a trigger with this name matches. */
export function isEngineEvent(name: string): boolean {
  return name.startsWith(ENGINE_EVENT_PREFIX)
}
