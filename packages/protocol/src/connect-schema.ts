// Schemas of the frames between a Connect runner and the engine (contract §4.3 "Connect transport", decisions
// "Connect"). A frame is one JSON text `{type, id, payload}`; unknown types and fields are ignored by both sides.

import Type from 'typebox'
import {
  InvokeRequestSchema,
  OPCODES_MAX,
  OpcodeSchema,
  RegisterReplySchema,
  RegisterRequestSchema,
  RunnerLogLineSchema,
  StepErrorSchema,
} from './wire-schema.ts'

/** What a runner opens with. */
export const HelloSchema = Type.Object({
  protocolVersion: Type.Optional(Type.Number()),
  instance: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description:
        'Names this one socket of the runner over its reconnects: a new socket of the same name replaces the earlier one.',
    }),
  ),
})

/** What the engine answers it with. */
export const HelloReplySchema = Type.Object({
  protocolVersion: Type.Integer(),
  sessionId: Type.String(),
  heartbeatMs: Type.Integer({ description: 'Send a frame at least this often.' }),
  maxFrameBytes: Type.Integer({ description: 'A larger frame closes the socket.' }),
  checkpoints: Type.Optional(
    Type.Boolean({ description: 'The engine takes `invoke.checkpoint`. Absent: it does not.' }),
  ),
})

/** `runner.register`: a registration without `url`; one that is given is ignored. Answered by `runner.registered`. */
export const ConnectRegisterSchema = Type.Object({
  ...Type.Omit(RegisterRequestSchema, ['url']).properties,
  maxConcurrency: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100_000, description: 'Most invokes under way on the runner.' }),
  ),
  underWay: Type.Optional(
    Type.Array(Type.String({ maxLength: 128 }), {
      maxItems: 100_000,
      description:
        'After a reconnect: the invokes it still works on, or whose results were not acknowledged. Those not named are over for the engine.',
    }),
  ),
})
export const ConnectRegisterReplySchema = RegisterReplySchema

export const ConnectInvokeSchema = Type.Object({
  ...InvokeRequestSchema.properties,
  deadlineMs: Type.Integer({
    description: 'How long the engine waits for the result, or the next checkpoint.',
  }),
})

/** `invoke.result`: the status and body of an invoke's answer as over HTTP. Answered by `result.ack`. */
export const ConnectResultSchema = Type.Object({
  status: Type.Integer(),
  body: Type.Optional(Type.Unknown()),
})

/** `invoke.checkpoint`: steps that finished while the pass goes on. Answered by `checkpoint.ack` with the same `seq`. */
export const CheckpointSchema = Type.Object({
  seq: Type.Integer({ minimum: 1, description: 'Counts the checkpoints of the invoke, from 1.' }),
  opcodes: Type.Array(OpcodeSchema, { maxItems: OPCODES_MAX }),
  logs: Type.Optional(Type.Array(RunnerLogLineSchema)),
})

/** One step as the engine holds it now. With neither of the three it succeeded as it was reported. */
export const CheckpointedStepSchema = Type.Object({
  id: Type.String(),
  data: Type.Optional(Type.Unknown()),
  error: Type.Optional(StepErrorSchema),
  pending: Type.Optional(Type.Boolean()),
})

/** The checkpoint is durable. */
export const CheckpointAckSchema = Type.Object({
  seq: Type.Integer(),
  steps: Type.Array(CheckpointedStepSchema, {
    description:
      'In the order in which replay will hand them over: the reported steps, and others of the run that settled meanwhile.',
  }),
  stop: Type.Optional(
    Type.Boolean({
      description:
        'Hand nothing more to the handler: finish the callbacks that run, and send the result with their opcodes.',
    }),
  ),
})

export const ConnectErrorSchema = Type.Object({ code: Type.String(), message: Type.String() })
