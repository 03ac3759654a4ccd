// What an opcode may ask for although no step can be made of it. Such a step fails at once and its handler sees the error
// thrown, which is no reason to fail the run. Asked by opcodes.ts.

import type { StepError } from '@perdure/protocol'
import { EVENT_BOUNDS, SendEventSchema } from '@perdure/protocol/schema'
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { hasForbiddenCharacters, isBlank } from '../../text/name.ts'

const URL_CHARS_MAX = 2048
// Characters are counted as everywhere else in the interface.
const bounded = {
  eventName: Compile(SendEventSchema.properties.name),
  webhookUrl: Compile(Type.String({ maxLength: URL_CHARS_MAX })),
}

export const EVENT_NAME_ERROR: StepError = {
  name: 'EventNameError',
  message: `eventName must be a string of 1 to ${EVENT_BOUNDS.name} characters, not blank, without control characters or lone surrogates.`,
}

export const WEBHOOK_URL_ERROR: StepError = {
  name: 'WebhookUrlError',
  message: `webhookUrl must be an http or https URL of at most ${URL_CHARS_MAX} characters, without credentials or control characters.`,
}

/** The names that `POST /events` takes. */
export function isEventName(name: unknown): name is string {
  return bounded.eventName.Check(name) && !isBlank(name) && !hasForbiddenCharacters(name)
}

/** With credentials it is none: whoever reads the delivery would see them. */
export function isWebhookUrl(url: unknown): url is string {
  if (!bounded.webhookUrl.Check(url) || hasForbiddenCharacters(url) || !URL.canParse(url)) return false
  const { protocol, username, password } = new URL(url)
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === ''
}
