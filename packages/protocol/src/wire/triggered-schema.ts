// The schema of an event's effect on one workflow. Replies to events, their records and the steps that emit them have it.

import Type from 'typebox'
import { optionalFlag, optionalText } from './schema-parts.ts'

export const flags = {
  delivered: optionalFlag('A singleton delivered the event to its live run: no other run started'),
  skipped: optionalFlag('A singleton policy dropped the event'),
  dropped: optionalFlag('A rate limit dropped the event'),
  debounced: optionalFlag('The event is buffered by a debounce'),
  batched: optionalFlag('The event is buffered in a batch'),
  deduped: optionalFlag('A repeat of a dedupe id or of an idempotency key within its window'),
}

export const TriggeredSchema = Type.Object({
  workflow: Type.String(),
  app: Type.String(),
  runId: optionalText('The run that the event started; in a record also the run that its burst or batch became'),
  liveRunId: optionalText('The live run for which a singleton skipped the event, or to which it delivered it'),
  ...flags,
})
