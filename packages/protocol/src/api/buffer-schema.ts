// Schemas of the open buffers of debounce and batch.

import Type from 'typebox'
import { count, optionalText, text, timestamp } from '../wire/schema-parts.ts'
import { BUFFER_KINDS } from './values.ts'

/** An open buffer: events that wait to become one run. */
export const BufferSchema = Type.Object({
  id: Type.String({ description: 'The same for every buffer of the workflow and key' }),
  kind: text(...BUFFER_KINDS),
  app: Type.String(),
  workflow: Type.String(),
  key: optionalText("Value of the policy's key; absent for a policy without one"),
  count: count('Its events'),
  maxSize: Type.Optional(count('A batch becomes a run when it has this many events')),
  eventName: Type.String({ description: 'Name of the event that the run will name' }),
  firstEventId: Type.String(),
  lastEventId: Type.String(),
  firstAt: timestamp('When its first event arrived'),
  lastAt: timestamp('When its newest event arrived'),
  dueAt: timestamp('When it becomes a run, if no event changes that'),
})

export const FlushBufferReplySchema = Type.Object({ runId: Type.String({ description: 'The run that it became' }) })
