// The record of the client: posted events, control actions and their answers. It is kept outside the engine, for comparison by
// the checkers.

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
  /** HTTP status. Absent when there was no answer. */
  status?: number
  /** Id of the run in the answer: the run itself, or its fork. */
  answeredRunId?: string
  errorCode?: string
}

/** A post to the callback of a run. */
export interface PostedCallback {
  /** Unique; part of the data. */
  token: string
  runId: string
  /** The hashed step id. */
  stepId: string
  /** Whether the URL had the callback's token. */
  isValid: boolean
  /** Whether the run was known to have ended before. */
  isLate: boolean
  /** HTTP status. Absent when there was no answer. */
  status?: number
  /** Whether the run had ended or the step had timed out when the engine was idle after the answer. */
  isOver?: boolean
}

/** A step that was settled by hand. */
export interface Settled {
  /** Unique; in the data or in the message. */
  token: string
  runId: string
  stepId: string
  /** HTTP status. Absent when there was no answer. */
  status?: number
}

/** A signal that was sent to a run. */
export interface SentSignal {
  /** Unique; part of the data. */
  token: string
  runId: string
  signal: string
  isUpdate: boolean
  /** When the engine answered. */
  answeredAt?: number
  /** HTTP status. Absent when there was no answer. */
  status?: number
}

/** A direct start that a caller requested. */
export interface DirectStart {
  /** Unique; part of the input. */
  token: string
  namespace: string
  app: string
  workflow: string
  key?: string
  ifRunning?: 'use' | 'refuse' | 'cancel'
  askedAt: number
  /** HTTP status. Absent when there was no answer. */
  status?: number
  /** The run in the answer: the one that was started, or the live run with the key. */
  runId?: string
}

export class Journal {
  readonly starts: DirectStart[] = []
  readonly signals: SentSignal[] = []
  readonly settles: Settled[] = []
  readonly events: PostedEvent[] = []
  readonly controls: ControlCall[] = []
  readonly callbacks: PostedCallback[] = []
}
