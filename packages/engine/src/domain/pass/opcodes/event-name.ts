// The event names that a workflow may emit or wait for: those that `POST /events` takes. A step with any other name fails
// at once, and its handler may catch the error; the run goes on.

import type { StepError } from '@perdure/protocol'
import { NAME_CHARS_MAX } from '@perdure/protocol'
import { SendEventSchema } from '@perdure/protocol/schema'
import { Compile } from 'typebox/compile'
import { hasForbiddenCharacters, isBlank } from '../../text/name.ts'

const boundedName = Compile(SendEventSchema.properties.name)

export const EVENT_NAME_ERROR: StepError = {
  name: 'EventNameError',
  message: `eventName must be a string of 1 to ${NAME_CHARS_MAX} characters, not blank, without control characters or lone surrogates.`,
}

export function isEventName(name: unknown): name is string {
  return boundedName.Check(name) && !isBlank(name) && !hasForbiddenCharacters(name)
}
