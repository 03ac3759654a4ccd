// The record of the client: posted events, control actions and their answers. It is kept outside
// the engine, for the checkers to compare.

import type { SendEvent, SendEventReply } from '../../../packages/protocol/src/index.ts'

export interface PostedEvent {
  /** Unique; part of the event's data. */
  token: string
  namespace: string
  event: SendEvent
  postedAt: number
  /** Set when the engine answered 202. */
  ackedAt?: number
  reply?: SendEventReply
}

export type ControlAction = 'cancel' | 'pause' | 'resume' | 'replay' | 'retry-from-step'

export interface ControlCall {
  namespace: string
  action: ControlAction
  runId: string
  body: unknown
  askedAt: number
  answeredAt?: number
  /** HTTP status; absent when no answer came. */
  status?: number
  /** Id of the run in the answer: the run itself, or its fork. */
  answeredRunId?: string
  errorCode?: string
}

export class Journal {
  readonly events: PostedEvent[] = []
  readonly controls: ControlCall[] = []
}
