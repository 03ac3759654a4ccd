// Types and constants of the Connect transport (`docs/wire-protocol.md#connect`).
// The engine and the SDK import them.

import type { Static } from 'typebox'
import type { StreamAckSchema, StreamAppendSchema } from '../wire/stream-schema.ts'
import type * as schema from './schema.ts'

export type Hello = Static<typeof schema.HelloSchema>
export type HelloReply = Static<typeof schema.HelloReplySchema>
export type ConnectRegister = Static<typeof schema.ConnectRegisterSchema>
export type Checkpoint = Static<typeof schema.CheckpointSchema>
export type CheckpointedStep = Static<typeof schema.CheckpointedStepSchema>
export type CheckpointAck = Static<typeof schema.CheckpointAckSchema>
export type StreamAppend = Static<typeof StreamAppendSchema>
export type StreamAck = Static<typeof StreamAckSchema>

/** Every type of frame. A peer ignores unknown types. */
export type FrameType =
  | 'hello'
  | 'runner.register'
  | 'runner.registered'
  | 'invoke'
  | 'invoke.result'
  | 'result.ack'
  | 'invoke.checkpoint'
  | 'checkpoint.ack'
  | 'invoke.cancel'
  | 'invoke.again'
  | 'again.ack'
  | 'invoke.stream'
  | 'stream.ack'
  | 'heartbeat'
  | 'heartbeat.ack'
  | 'drain'
  | 'error'

/** One JSON text frame. An answer carries the `id` of the frame it answers. */
export interface Frame<Payload = unknown> {
  type: FrameType
  id: string
  payload?: Payload
}

/** Each side sends a heartbeat after this long without another frame. */
export const CONNECT_HEARTBEAT_MS = 10_000

/** A peer that sent nothing for this long is considered gone. */
export const CONNECT_SILENCE_MS = 30_000

/** A larger frame closes the socket. The body of a result has the same bound as over HTTP. */
export const CONNECT_FRAME_BYTES_MAX = 4 * 1024 * 1024

/** WebSocket close codes of the transport. */
export const CLOSE_CODES = {
  /** The engine shuts down: the runner reconnects. */
  draining: 1001,
  /** A frame was over the bound. */
  tooBig: 1009,
  /** The peer does not speak the protocol, or another version of it. */
  protocol: 4400,
  /** The API key is missing, wrong, or of the wrong kind. */
  auth: 4401,
  /** Silent for too long. */
  heartbeat: 4408,
  /** A newer socket of the same runner replaced this one. */
  replaced: 4409,
} as const
