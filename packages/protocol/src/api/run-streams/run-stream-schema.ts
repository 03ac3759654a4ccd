// The output streams of a run: their list, and the messages that readers get (`docs/streams.md`).

import Type from 'typebox'
import { STEP_NAME_CHARS_MAX } from '../../wire/bounds.ts'
import { timestamp } from '../../wire/schema-parts.ts'

const n = Type.Integer({ minimum: 0, description: 'Number of the message, which rises by one' })
const step = Type.String({ maxLength: STEP_NAME_CHARS_MAX, description: 'Name of the step' })
const attempt = Type.Integer({ minimum: 1, description: 'Attempt of the step' })

/** One message of an output stream. */
export const StreamMessageSchema = Type.Union([
  Type.Object(
    {
      n,
      chunk: Type.Unknown({ description: 'What the step wrote' }),
      step: Type.Optional(step),
      attempt: Type.Optional(attempt),
    },
    { description: 'A chunk. Step and attempt are those of the message before where they are absent' },
  ),
  Type.Object(
    {
      n,
      rollback: Type.Integer({ minimum: 0, description: 'The first message that is withdrawn' }),
      step,
      attempt,
      reason: Type.Union([Type.Literal('failed'), Type.Literal('lost')]),
    },
    { description: 'The chunks of the step from `rollback` on are withdrawn: its attempt failed, or was lost' },
  ),
  Type.Object(
    { n, end: Type.String({ description: 'Status of the run' }), continuedAs: Type.Optional(Type.String()) },
    { description: 'The run has ended. Nothing follows' },
  ),
])

/** An output stream of a run, without its messages. */
export const RunStreamSchema = Type.Object({
  name: Type.String(),
  chunks: Type.Integer({ description: 'Chunks that are not withdrawn' }),
  bytes: Type.Integer({ description: 'Bytes of their JSON texts' }),
  firstAt: timestamp('When the first chunk was written'),
  lastAt: timestamp('When the newest message was written'),
  ended: Type.Boolean({ description: 'The run has ended: nothing more is written' }),
  dropped: Type.Optional(Type.Boolean({ description: 'Retention has dropped the messages' })),
})

/** A frame of the topic `run:ID:NAME` of `GET /stream`. */
export const RunStreamFrameSchema = Type.Object({
  kind: Type.Literal('stream'),
  runId: Type.String(),
  name: Type.String(),
  offset: Type.String({ description: 'The offset behind the messages' }),
  messages: Type.Array(StreamMessageSchema),
})
