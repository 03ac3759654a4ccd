// Schemas of what the HTTP interface answers (contract §2, decisions "Run", "Step record", "Errors").
// Absent means absent: a field that does not apply is left out, never null.

import Type from 'typebox'
import { LogLevelSchema, StepErrorSchema, TriggerSchema } from './wire-schema.ts'

const Timestamp = Type.String({ format: 'date-time' })
const DurationMs = Type.Integer({ minimum: 0 })
const text = <T extends string[]>(...values: readonly [...T]) => Type.Enum<T>(values)

export const RunStatusSchema = text(
  'queued',
  'running',
  'waiting',
  'paused',
  'succeeded',
  'failed',
  'cancelled',
)

export const RunErrorCodeSchema = text(
  'step_failed',
  'runner_rejected',
  'runner_unreachable',
  'runner_not_registered',
  'response_too_large',
  'invalid_response',
  'timeout',
  'limit_exceeded',
)

export const RunErrorSchema = Type.Object({
  message: Type.String(),
  stack: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
  code: Type.Optional(RunErrorCodeSchema),
  stepName: Type.Optional(Type.String()),
})

export const WaitingForSchema = Type.Object({
  kind: text('sleep', 'event', 'child', 'retry', 'runner', 'concurrency', 'throttle'),
  stepName: Type.Optional(Type.String()),
  until: Type.Optional(Timestamp),
  eventName: Type.Optional(Type.String()),
  childRunId: Type.Optional(Type.String()),
  key: Type.Optional(Type.String()),
})

const runSummary = {
  id: Type.String(),
  workflow: Type.String(),
  app: Type.String(),
  status: RunStatusSchema,
  triggerKind: text('event', 'cron'),
  eventName: Type.Optional(Type.String()),
  eventId: Type.Optional(Type.String()),
  cron: Type.Optional(Type.String()),
  replayOf: Type.Optional(Type.String()),
  parentRunId: Type.Optional(Type.String()),
  runner: Type.Optional(Type.String()),
  attempt: Type.Integer({ minimum: 1 }),
  createdAt: Timestamp,
  startedAt: Type.Optional(Timestamp),
  finishedAt: Type.Optional(Timestamp),
  durationMs: Type.Optional(DurationMs),
  currentStepName: Type.Optional(Type.String()),
  error: Type.Optional(RunErrorSchema),
  waitingFor: Type.Optional(WaitingForSchema),
}
export const RunSummarySchema = Type.Object(runSummary)
export const RunSchema = Type.Object({
  ...runSummary,
  input: Type.Optional(Type.Unknown()),
  result: Type.Optional(Type.Unknown()),
})

export const StepStatusSchema = text('running', 'waiting', 'retrying', 'succeeded', 'failed', 'cancelled')
export const OpSchema = text(
  'StepRun',
  'Sleep',
  'SleepUntil',
  'WaitForEvent',
  'RunWorkflow',
  'Emit',
  'Webhook',
)

export const StepRecordSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  op: OpSchema,
  index: Type.Integer({ minimum: 0 }),
  status: StepStatusSchema,
  attempt: Type.Integer({ minimum: 1 }),
  startedAt: Timestamp,
  finishedAt: Type.Optional(Timestamp),
  durationMs: Type.Optional(DurationMs),
  data: Type.Optional(Type.Unknown()),
  error: Type.Optional(StepErrorSchema),
  nextAttemptAt: Type.Optional(Timestamp),
  wakeAt: Type.Optional(Timestamp),
  eventName: Type.Optional(Type.String()),
  childRunId: Type.Optional(Type.String()),
  deliveryId: Type.Optional(Type.String()),
  emittedEventId: Type.Optional(Type.String()),
  carried: Type.Optional(Type.Boolean()),
  timedOut: Type.Optional(Type.Boolean()),
})

export const RunLogLineSchema = Type.Object({
  seq: Type.Integer({ minimum: 1 }),
  ts: Timestamp,
  level: LogLevelSchema,
  message: Type.String(),
  fields: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  scope: Type.String(),
  attempt: Type.Integer({ minimum: 1 }),
})

const frame = { seq: Type.Integer(), ts: Timestamp, runId: Type.String() }
export const RunStatusFrameSchema = Type.Object({
  kind: Type.Literal('run_status'),
  ...frame,
  status: RunStatusSchema,
  currentStepName: Type.Optional(Type.String()),
  attempt: Type.Optional(Type.Integer()),
})
export const TimelineFrameSchema = Type.Union([
  RunStatusFrameSchema,
  Type.Object({
    kind: Type.Literal('step_status'),
    ...frame,
    name: Type.String(),
    status: StepStatusSchema,
    attempt: Type.Integer(),
    index: Type.Optional(Type.Integer()),
    error: Type.Optional(StepErrorSchema),
  }),
  Type.Object({
    kind: Type.Literal('log'),
    ...frame,
    level: LogLevelSchema,
    message: Type.String(),
    fields: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    scope: Type.String(),
    attempt: Type.Integer(),
  }),
])

/** Contract §2.4. `successRate` is a whole-number percent, 100 when nothing has finished. */
export const RunStatsSchema = Type.Object({
  total: Type.Integer({ minimum: 0 }),
  active: Type.Integer({ minimum: 0 }),
  succeeded: Type.Integer({ minimum: 0 }),
  failed: Type.Integer({ minimum: 0 }),
  successRate: Type.Integer({ minimum: 0, maximum: 100 }),
})

export const ReplayRequestSchema = Type.Object({
  /** Replaces the input of the new run, `null` included; absent copies the source's. */
  input: Type.Optional(Type.Unknown()),
})

/** `step` is a step's name (with `:n` for repeats), else its hashed id. */
export const RetryFromStepRequestSchema = Type.Object({ step: Type.String({ minLength: 1 }) })

/** One of the members at least. */
export const BulkReplayRequestSchema = Type.Object({
  app: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  workflow: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  status: Type.Optional(RunStatusSchema),
  runType: Type.Optional(text('event', 'cron')),
  since: Type.Optional(Timestamp),
})

/** Counts of runs; `capped` when more finished ones matched than were tried. */
export const BulkReplayReplySchema = Type.Object({
  matched: Type.Integer({ minimum: 0 }),
  replayed: Type.Integer({ minimum: 0 }),
  skipped: Type.Integer({ minimum: 0 }),
  failed: Type.Integer({ minimum: 0 }),
  capped: Type.Boolean(),
})

/** Contract §2.10. */
export const ControlActionSchema = Type.Object({
  id: Type.String(),
  action: text('cancel', 'pause', 'resume', 'replay', 'retry_from_step', 'bulk_replay'),
  runId: Type.Optional(Type.String()),
  newRunId: Type.Optional(Type.String()),
  actor: Type.Optional(Type.String()),
  detail: Type.Optional(Type.Unknown()),
  createdAt: Timestamp,
})

export const AppSchema = Type.Object({ name: Type.String(), createdAt: Timestamp })

export const RunnerSchema = Type.Object({
  runnerId: Type.String(),
  app: Type.String(),
  url: Type.String(),
  framework: Type.Optional(Type.String()),
  runtime: Type.Optional(Type.String()),
  sdkName: Type.Optional(Type.String()),
  version: Type.Optional(Type.String()),
  region: Type.Optional(Type.String()),
  keyFingerprint: Type.Optional(Type.String()),
  keyMatches: Type.Optional(Type.Boolean()),
  lastSeenAt: Timestamp,
  live: Type.Boolean(),
})

export const ScheduleSchema = Type.Object({
  cron: Type.String(),
  timezone: Type.String(),
  nextRunAt: Timestamp,
  lastRunAt: Type.Optional(Timestamp),
  lastRunId: Type.Optional(Type.String()),
})

export const WorkflowSchema = Type.Object({
  name: Type.String(),
  app: Type.String(),
  retry: Type.Object({
    maxAttempts: Type.Integer(),
    initialMs: Type.Number(),
    factor: Type.Number(),
    maxMs: Type.Number(),
    jitter: Type.Number(),
  }),
  triggers: Type.Array(TriggerSchema),
  scheduled: Type.Boolean(),
  schedules: Type.Array(ScheduleSchema),
  flowControl: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  onFailure: Type.Boolean(),
  updatedAt: Timestamp,
})

/** Bounds of the strings of `POST /events`, in characters (decisions, "Events"). */
export const EVENT_BOUNDS = { name: 256, app: 128, runner: 128, targetApp: 128, dedupeId: 256 } as const

export const SendEventSchema = Type.Object({
  name: Type.String({ minLength: 1, maxLength: EVENT_BOUNDS.name }),
  app: Type.Optional(Type.String({ minLength: 1, maxLength: EVENT_BOUNDS.app })),
  data: Type.Optional(Type.Unknown()),
  dedupeId: Type.Optional(Type.String({ minLength: 1, maxLength: EVENT_BOUNDS.dedupeId })),
  runner: Type.Optional(Type.String({ minLength: 1, maxLength: EVENT_BOUNDS.runner })),
  targetApp: Type.Optional(Type.String({ minLength: 1, maxLength: EVENT_BOUNDS.targetApp })),
})

const flags = {
  skipped: Type.Optional(Type.Boolean()),
  dropped: Type.Optional(Type.Boolean()),
  debounced: Type.Optional(Type.Boolean()),
  batched: Type.Optional(Type.Boolean()),
  deduped: Type.Optional(Type.Boolean()),
}

export const TriggeredSchema = Type.Object({
  workflow: Type.String(),
  app: Type.String(),
  runId: Type.Optional(Type.String()),
  ...flags,
})

export const SendEventReplySchema = Type.Object({
  eventId: Type.Optional(Type.String()),
  runId: Type.Optional(Type.String()),
  woke: Type.Optional(Type.Integer({ minimum: 0 })),
  triggered: Type.Optional(Type.Array(TriggeredSchema)),
  ...flags,
  suspended: Type.Optional(Type.Boolean()),
})

export const EventRecordSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  app: Type.Optional(Type.String()),
  source: text('api', 'emit'),
  data: Type.Optional(Type.Unknown()),
  receivedAt: Timestamp,
  woke: Type.Integer({ minimum: 0 }),
  triggered: Type.Array(TriggeredSchema),
})

/** A line of `GET /events/stream`. */
export const EventFrameSchema = Type.Object({
  kind: Type.Literal('event'),
  ...EventRecordSchema.properties,
})

export const ErrorBodySchema = Type.Object({
  error: Type.Object({
    code: Type.String(),
    message: Type.String(),
    details: Type.Optional(Type.Unknown()),
    requestId: Type.String(),
  }),
})

export const HealthSchema = Type.Object({ status: Type.Literal('ok') })
export const ReadinessSchema = Type.Object({
  status: text('ready', 'not_ready'),
  checks: Type.Record(Type.String(), text('ok', 'unavailable')),
  draining: Type.Optional(Type.Boolean()),
})
