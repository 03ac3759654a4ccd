// The event names that a workflow may emit or wait for, which are those that `POST /events` accepts. A step with any other name
// fails at once; its handler may catch the error, and the run continues.

import type { StepError } from '@perdure/protocol'
import { NAME_CHARS_MAX } from '@perdure/protocol'
import { SendEventSchema } from '@perdure/protocol/schema'
import { ENGINE_EVENT_FAULT, hasForbiddenCharacters, isBlank, isEngineEvent } from '../../text/name.ts'
import { compiledOnce } from '../../text/schema/compiled-schema.ts'

const boundedName = compiledOnce(SendEventSchema.properties.name)

const EVENT_NAME_ERROR: StepError = {
  name: 'EventNameError',
  message: `eventName must be a string of 1 to ${NAME_CHARS_MAX} characters, not blank, without control characters or lone surrogates.`,
}

const ENGINE_EVENT_ERROR: StepError = { name: 'EventNameError', message: `eventName ${ENGINE_EVENT_FAULT}.` }

/** The name of the event of a step, or the error of the step if it cannot name such an event. */
export function readEventName(name: unknown): string | StepError {
  if (!boundedName().Check(name) || isBlank(name) || hasForbiddenCharacters(name)) return EVENT_NAME_ERROR
  return isEngineEvent(name) ? ENGINE_EVENT_ERROR : name
}
