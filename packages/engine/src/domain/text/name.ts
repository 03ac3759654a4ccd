// Checks the characters of names. API callers' names are checked in http/request/validate, workflows' names in
// domain/pass/names/event-name.

import { ENGINE_EVENT_PREFIX, SIGNAL_NAME_CHARS_MAX, SIGNAL_NAME_PATTERN, STEPS_MAX } from '@perdure/protocol'

/** Invisible in a listing; and not every database can store a NUL or a lone surrogate. */
const FORBIDDEN = /[\p{Cc}\p{Cs}]/u

/** Whether the text has control characters or lone surrogates. */
export function hasForbiddenCharacters(text: string): boolean {
  return FORBIDDEN.test(text)
}

export function isBlank(text: string): boolean {
  return text.trim() === ''
}

/** The problem with such a name in an event from a sender other than the engine. */
export const ENGINE_EVENT_FAULT = `must not begin with ${ENGINE_EVENT_PREFIX}: only the engine sends such events`

/** Whether only the engine sends events of this name, or events that match a trigger of this name. */
export function isEngineEvent(name: string): boolean {
  return name.startsWith(ENGINE_EVENT_PREFIX)
}

const SIGNAL_NAME = new RegExp(SIGNAL_NAME_PATTERN)

/** Maximum signals and updates of one run: as many as it can take in steps. */
export const SIGNALS_MAX = STEPS_MAX

/** The problem with a signal's name in another form. */
export const SIGNAL_NAME_FAULT = `must be 1 to ${SIGNAL_NAME_CHARS_MAX} letters, digits, _ . : / or -`

/** Whether a signal or an update can have the name. */
export function isSignalName(name: unknown): name is string {
  return typeof name === 'string' && SIGNAL_NAME.test(name)
}

/** The first character of a signal's name in the log. No event of a caller has such a name: it has a control character. */
const SIGNAL_EVENT = '\u0001'

/** The name of a signal or an update to the run in the log, so that no other event is taken for it. */
export function signalEventName(runId: string, signal: string): string {
  return `${SIGNAL_EVENT}${runId}/${signal}`
}

/** The name of the signal or update, from its name in the log; undefined for any other event. */
export function signalOf(eventName: string | undefined): string | undefined {
  return eventName?.startsWith(SIGNAL_EVENT) ? eventName.slice(eventName.indexOf('/') + 1) : undefined
}

/** Where lists of event names begin: after the names of signals in the log. */
export const FIRST_EVENT_NAME = '\u0002'
