// Schemas of the frames between a Connect runner and the engine
// (`docs/wire-protocol.md#connect`). A frame is one JSON text `{type, id, payload}`; both sides ignore unknown types and
// fields.

import Type from 'typebox'
import { AttributeChangesSchema } from '../wire/attributes-schema.ts'
import {
  CONNECT_CONCURRENCY_MAX,
  OPCODES_MAX,
  PROGRESS_BYTES_MAX,
  RUNNING_STEPS_MAX,
  STEP_NAME_CHARS_MAX,
} from '../wire/bounds.ts'
import {
  EngineFeatures,
  MemoEntrySchema,
  OpcodeSchema,
  RegisterRequestSchema,
  RunnerLogLineSchema,
} from '../wire/schema.ts'
import { name, optionalFlag } from '../wire/schema-parts.ts'

/** Payload of `hello`, the first frame of a runner. */
export const HelloSchema = Type.Object({
  protocolVersion: Type.Optional(Type.Number()),
  instance: Type.Optional(
    name(
      128,
      'Identifies this socket of the runner across reconnects: a new socket with the same name replaces the earlier one.',
    ),
  ),
})

/** Payload of the engine's answer to `hello`. */
export const HelloReplySchema = Type.Object({
  protocolVersion: Type.Integer(),
  sessionId: Type.String(),
  heartbeatMs: Type.Integer({ description: 'Send a frame at least this often.' }),
  maxFrameBytes: Type.Integer({ description: 'A larger frame closes the socket.' }),
  features: EngineFeatures,
  checkpoints: optionalFlag('The engine accepts `invoke.checkpoint`; absent when it does not.'),
})

/** `runner.register`: a registration without `url`; the engine ignores a `url`. Answered by `runner.registered`. */
export const ConnectRegisterSchema = Type.Object({
  ...Type.Omit(RegisterRequestSchema, ['url']).properties,
  maxConcurrency: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: CONNECT_CONCURRENCY_MAX,
      description: 'Maximum number of invokes the runner executes at once.',
    }),
  ),
  underWay: Type.Optional(
    Type.Array(Type.String({ maxLength: 128 }), {
      maxItems: CONNECT_CONCURRENCY_MAX,
      description:
        'After a reconnect: ids of the invokes that the runner still executes, or whose results were not acknowledged. The engine gives up every other invoke of the socket.',
    }),
  ),
})

/**
 * `invoke.checkpoint`: steps that finished while the pass continues. Answered by `checkpoint.ack` with the same
 * `seq`.
 */
export const CheckpointSchema = Type.Object({
  seq: Type.Integer({ minimum: 1, description: 'Number of the checkpoint within the invoke, from 1.' }),
  opcodes: Type.Array(OpcodeSchema, { maxItems: OPCODES_MAX }),
  logs: Type.Optional(Type.Array(RunnerLogLineSchema)),
  attributes: Type.Optional(AttributeChangesSchema),
  progress: Type.Optional(
    Type.Unknown({ description: `Any JSON up to ${PROGRESS_BYTES_MAX} bytes: the newest one counts` }),
  ),
  running: Type.Optional(
    Type.Unknown({ description: `All steps whose callbacks have been running for long, at most ${RUNNING_STEPS_MAX}` }),
  ),
})

const Settled = Type.Optional(
  Type.Integer({
    minimum: 0,
    description:
      'How many settled steps the engine had sent for the pass: a run that has more by now has another pass in any case.',
  }),
)

/** `invoke.again`: the handler of an answered pass continues after all. Answered by `again.ack`. */
export const InvokeAgainSchema = Type.Object({ runId: Type.String({ minLength: 1, maxLength: 128 }), settled: Settled })

/** A step whose callback is still running. */
export const RunningStepSchema = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 256 }),
  name: Type.String({ minLength: 1, maxLength: STEP_NAME_CHARS_MAX }),
  startedMs: Type.Number({ minimum: 0, description: 'How long ago its callback began' }),
})

/** The engine's current record of one step. Without `data`, `error` and `pending` the step succeeded as reported. */
export const CheckpointedStepSchema = Type.Object({ id: Type.String(), ...MemoEntrySchema.properties })

/** `checkpoint.ack`: the checkpoint is durable. */
export const CheckpointAckSchema = Type.Object({
  seq: Type.Integer(),
  steps: Type.Array(CheckpointedStepSchema, {
    description:
      'The reported steps, and other steps of the run that settled since, in the order in which a replay returns them.',
  }),
  stop: optionalFlag(
    'Return no more results to the handler: let running callbacks finish, then send the result with their opcodes.',
  ),
})
