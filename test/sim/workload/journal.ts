// What the client did and was told: events it posted, control actions it asked for, and the answers. Kept outside
// the engine, for the checkers to hold it against.

import type { SendEvent, SendEventReply } from '../../../packages/protocol/src/index.ts'

export interface PostedEvent {
  /** Unique, in the event's data. */
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
