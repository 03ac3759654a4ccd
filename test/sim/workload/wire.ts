// The wire protocol of the simulated runners, written from docs/wire-protocol.md and not imported, so that engine and runners
// cannot share a mistake.

export interface StepError {
  message: string
  name?: string
  /** The cause of the handler's end, in a 4xx. */
  code?: string
  stepName?: string
}

export interface MemoEntry {
  data?: unknown
  error?: StepError
  pending?: boolean
}

export interface InvokeRequest {
  event: { id?: string; name: string; data?: unknown }
  steps: Record<string, MemoEntry>
  ctx: {
    runId: string
    workflow: string
    attempt: number
    app: string
    runner: string
    features?: string[]
    onFailure?: boolean
    error?: StepError
    checkpointToken?: string
    callbackUrl?: string
    callbackKey?: string
    /** The attempts of steps that are retried. */
    stepAttempts?: Record<string, number>
    /** The steps that have their turn at a limit. */
    turns?: string[]
    /** The run that a cleanup run follows. */
    cleanup?: { runId: string; status: string; steps: Record<string, MemoEntry & { name: string; rollback?: true }> }
  }
}

export interface LogLine {
  level: 'debug' | 'info' | 'warn' | 'error'
  message: string
  scope: string
  index: number
}

export interface Opcode {
  op:
    | 'StepRun'
    | 'StepLimit'
    | 'Sleep'
    | 'SleepUntil'
    | 'WaitForEvent'
    | 'WaitForCallback'
    | 'WaitForRun'
    | 'WaitForSignal'
    | 'RunWorkflow'
    | 'StartRun'
    | 'Emit'
    | 'Webhook'
    | 'ReplyToUpdate'
  id: string
  name: string
  data?: unknown
  error?: StepError
  retriable?: boolean
  retry?: { maxAttempts: number; initialMs: number }
  retryAfterMs?: number
  catchable?: boolean
  rollback?: boolean
  spent?: { tokens: number }
  sleepMs?: number
  sleepUntilMs?: number
  eventName?: string
  timeoutMs?: number
  signal?: string
  updateId?: string
  limit?: string
  runId?: string
  childName?: string
  childApp?: string
  childData?: unknown
  webhookUrl?: string
  workflow?: string
  key?: string
  ifRunning?: 'use' | 'refuse' | 'cancel'
  delayMs?: number
}

/** The answer of a runner. */
export interface Answer {
  status: number
  body: string
}

/** A report of the runner while its pass continues (docs/wire-protocol.md#checkpoints). */
export interface Checkpoint {
  seq: number
  opcodes: Opcode[]
  logs: LogLine[]
}

export interface CheckpointAck {
  seq: number
  steps: ({ id: string } & MemoEntry)[]
  stop?: boolean
}
