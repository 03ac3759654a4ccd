// Schemas of what a runner appends to the output streams of a run, over Connect and over HTTP
// (`docs/wire-protocol.md#output-streams`).

import Type from 'typebox'
import { STEP_NAME_CHARS_MAX, STREAM_APPEND_CHUNKS_MAX, STREAM_NAME_PATTERN } from './bounds.ts'
import { name } from './schema-parts.ts'

const StreamNameSchema = Type.String({ pattern: STREAM_NAME_PATTERN })

/** `invoke.stream`, and the body of `POST /invokes/{token}/streams/{name}`: chunks that a step wrote to a stream. */
export const StreamAppendSchema = Type.Object({
  stepId: name(256, 'The hashed id of the step'),
  step: name(STEP_NAME_CHARS_MAX, 'The name of the step, with its `:n` if the name was used before'),
  name: StreamNameSchema,
  seq: Type.Integer({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Number of the append within the pass, the step and the stream, from 1 without a gap',
  }),
  chunks: Type.Array(Type.Unknown(), { minItems: 1, maxItems: STREAM_APPEND_CHUNKS_MAX, description: 'Any JSON' }),
})

/** `stream.ack`, and the answer over HTTP: the append is durable, unless there is an `error`, which only a frame has. */
export const StreamAckSchema = Type.Object({
  stepId: Type.String(),
  name: Type.String(),
  seq: Type.Integer(),
  error: Type.Optional(
    Type.Object(
      { code: Type.String(), message: Type.String() },
      { description: 'Why the append was refused; with `gone` the pass is over' },
    ),
  ),
})
