// The Connect transport's names, numbers and types (contract §4.3, decisions "Connect"). Both peers import it.

import type { Static } from 'typebox'
import type * as schema from './connect-schema.ts'

export type Hello = Static<typeof schema.HelloSchema>
export type HelloReply = Static<typeof schema.HelloReplySchema>
export type ConnectRegister = Static<typeof schema.ConnectRegisterSchema>
export type ConnectInvoke = Static<typeof schema.ConnectInvokeSchema>
export type ConnectResult = Static<typeof schema.ConnectResultSchema>
export type Checkpoint = Static<typeof schema.CheckpointSchema>
export type CheckpointedStep = Static<typeof schema.CheckpointedStepSchema>
export type CheckpointAck = Static<typeof schema.CheckpointAckSchema>
export type ConnectError = Static<typeof schema.ConnectErrorSchema>

/** Every type of frame. A peer ignores those it does not know. */
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
  | 'heartbeat'
  | 'heartbeat.ack'
  | 'drain'
  | 'error'

/** One JSON text frame. Answers carry the `id` of what they answer. */
export interface Frame<Payload = unknown> {
  type: FrameType
  id: string
  payload?: Payload
}

/** How often each side says that it lives, if it has nothing else to say. */
export const CONNECT_HEARTBEAT_MS = 10_000

/** A peer that was silent for this long is gone. */
export const CONNECT_SILENCE_MS = 30_000

/** A larger frame closes the socket; a result's body is bounded like one over HTTP (contract §8). */
export const CONNECT_FRAME_BYTES_MAX = 4 * 1024 * 1024

/** Why a socket was closed. */
export const CLOSE_CODES = {
  /** The engine shuts down: reconnect. */
  draining: 1001,
  /** A frame was over the bound. */
  tooBig: 1009,
  /** The peer does not speak the protocol, or another version of it. */
  protocol: 4400,
  /** The API key is missing, wrong, or of the wrong kind. */
  auth: 4401,
  /** Silent for too long. */
  heartbeat: 4408,
  /** Another socket took its place. */
  replaced: 4409,
} as const
