// Schemas of what the HTTP interface answers (contract §2, decisions "Run", "Step record", "Errors").
// Absent means absent: a field that does not apply is left out, never null.

import Type from 'typebox'
import { LogLevelSchema, StepErrorSchema, TriggerSchema } from './wire-schema.ts'

const Timestamp = Type.String({ format: 'date-time' })
const timestamp = (description: string) => Type.String({ format: 'date-time', description })
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
  stepName: Type.Optional(Type.String({ description: 'The step that failed for good' })),
})

export const WaitingForSchema = Type.Object({
  kind: text('sleep', 'event', 'child', 'retry', 'runner', 'concurrency', 'throttle'),
  stepName: Type.Optional(Type.String({ description: 'The step that waits' })),
  until: Type.Optional(timestamp('When it goes on by itself')),
  eventName: Type.Optional(Type.String({ description: 'The event it waits for' })),
  childRunId: Type.Optional(Type.String({ description: 'The run it waits for' })),
  key: Type.Optional(Type.String({ description: 'The flow-control key it is held by' })),
})

const runSummary = {
  id: Type.String(),
  workflow: Type.String({ description: 'Name of the workflow' }),
  app: Type.String({ description: 'App that owns the run' }),
  status: RunStatusSchema,
  triggerKind: text('event', 'cron'),
  eventName: Type.Optional(Type.String({ description: 'Only of event-triggered runs' })),
  eventId: Type.Optional(Type.String({ description: 'The event that fanned the run out' })),
  cron: Type.Optional(Type.String({ description: 'The cron expression that started it' })),
  replayOf: Type.Optional(Type.String({ description: 'The run this one was forked from' })),
  parentRunId: Type.Optional(
    Type.String({ description: 'The run that started this one as a child, or that failed before it' }),
  ),
  runner: Type.Optional(Type.String({ description: 'The runner id it is pinned to' })),
  attempt: Type.Integer({
    minimum: 1,
    description: '1, and one more for every pass repeated after a failure',
  }),
  createdAt: timestamp('When it was accepted'),
  startedAt: Type.Optional(timestamp('When its runner was first called')),
  finishedAt: Type.Optional(timestamp('When it ended')),
  durationMs: Type.Optional(Type.Integer({ minimum: 0, description: 'From its start to its end' })),
  currentStepName: Type.Optional(Type.String({ description: 'The step it is at' })),
  error: Type.Optional(RunErrorSchema),
  waitingFor: Type.Optional(WaitingForSchema),
}
export const RunSummarySchema = Type.Object(runSummary)
export const RunSchema = Type.Object({
  ...runSummary,
  input: Type.Optional(Type.Unknown()),
  result: Type.Optional(Type.Unknown()),
})

/** Answer of `GET /runs/{id}/why`. */
export const RunExplanationSchema = Type.Object({
  runId: Type.String(),
  status: RunStatusSchema,
  sentence: Type.String({ description: 'All of it in a sentence or two, for people; its words may change' }),
  since: timestamp('When it came to this status'),
  waitingFor: Type.Optional(WaitingForSchema),
  wakeAt: Type.Optional(timestamp('When it goes on by itself; of a paused run, when its next timer settles')),
  event: Type.Optional(
    Type.Object(
      { name: Type.String(), if: Type.Optional(Type.String()) },
      { description: 'The event it waits for, and its filter' },
    ),
  ),
  childRunId: Type.Optional(Type.String({ description: 'The run it waits for' })),
  children: Type.Optional(
    Type.Array(Type.Object({ stepName: Type.String(), runId: Type.String(), status: RunStatusSchema }), {
      description: 'Every child that it waits for, oldest first; 20 at most',
    }),
  ),
  position: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Held runs of the same limit and key that come before it' }),
  ),
  runners: Type.Optional(
    Type.Object(
      { live: Type.Integer({ minimum: 0 }), stale: Type.Integer({ minimum: 0 }) },
      { description: 'Registered runners that may take it; absent once it has ended' },
    ),
  ),
  runner: Type.Optional(
    Type.String({ description: 'The runner that works on it now, else the one it is pinned to' }),
  ),
  passSince: Type.Optional(timestamp('When the pass that is under way was sent')),
  error: Type.Optional(RunErrorSchema),
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
  id: Type.String({ description: 'Hashed step id' }),
  name: Type.String({ description: 'The name the workflow gave it' }),
  op: OpSchema,
  index: Type.Integer({ minimum: 0, description: 'Execution order, from 0' }),
  status: StepStatusSchema,
  attempt: Type.Integer({ minimum: 1, description: 'Attempt the record stands at' }),
  startedAt: Timestamp,
  finishedAt: Type.Optional(Timestamp),
  durationMs: Type.Optional(DurationMs),
  data: Type.Optional(Type.Unknown({ description: 'Its result' })),
  error: Type.Optional(StepErrorSchema),
  nextAttemptAt: Type.Optional(timestamp('When a failed attempt is repeated')),
  wakeAt: Type.Optional(timestamp('When a sleep or a wait is over')),
  eventName: Type.Optional(Type.String({ description: 'The event it waits for, or emitted' })),
  childRunId: Type.Optional(Type.String({ description: 'The run it started' })),
  deliveryId: Type.Optional(Type.String({ description: 'The webhook delivery it asked for' })),
  emittedEventId: Type.Optional(Type.String({ description: 'The event it emitted' })),
  carried: Type.Optional(Type.Boolean({ description: 'Taken over from the run this one was forked from' })),
  timedOut: Type.Optional(Type.Boolean({ description: 'The wait ended without an event' })),
})

export const RunLogLineSchema = Type.Object({
  seq: Type.Integer({ minimum: 1, description: 'Rises within a run, with gaps' }),
  ts: timestamp('When the engine stored the line'),
  level: LogLevelSchema,
  message: Type.String(),
  fields: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'Structured fields; the values of sensitive keys are `[REDACTED]`',
    }),
  ),
  scope: Type.String({ description: 'Step name, or `@root` for the handler' }),
  attempt: Type.Integer({ minimum: 1, description: 'Attempt it was logged under' }),
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
  total: Type.Integer({ minimum: 0, description: 'All runs that match' }),
  active: Type.Integer({ minimum: 0, description: 'Queued, running and waiting' }),
  succeeded: Type.Integer({ minimum: 0 }),
  failed: Type.Integer({ minimum: 0 }),
  successRate: Type.Integer({
    minimum: 0,
    maximum: 100,
    description: 'Percent of the finished that succeeded; 100 when none has finished',
  }),
})

export const ReplayRequestSchema = Type.Object({
  /** Replaces the input of the new run, `null` included; absent copies the source's. */
  input: Type.Optional(
    Type.Unknown({ description: 'Input of the new run, `null` included; absent copies the old one' }),
  ),
})

/** `step` is a step's name (with `:n` for repeats), else its hashed id. */
export const RetryFromStepRequestSchema = Type.Object({
  step: Type.String({ minLength: 1, description: "A step's name, with `:n` for repeats, or its hashed id" }),
})

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
  matched: Type.Integer({ minimum: 0, description: 'Runs that match the filter' }),
  replayed: Type.Integer({ minimum: 0, description: 'Forked' }),
  skipped: Type.Integer({ minimum: 0, description: 'Not finished, so left alone' }),
  failed: Type.Integer({ minimum: 0, description: 'Could not be forked' }),
  capped: Type.Boolean({
    description: 'More finished runs match than were tried: narrow the filter and call again',
  }),
})

/** Contract §2.10. */
export const ControlActionSchema = Type.Object({
  id: Type.String(),
  action: text('cancel', 'pause', 'resume', 'replay', 'retry_from_step', 'bulk_replay'),
  runId: Type.Optional(Type.String({ description: 'The run acted on' })),
  newRunId: Type.Optional(Type.String({ description: 'The run forked from it' })),
  actor: Type.Optional(Type.String({ description: 'Label of the API key behind it' })),
  detail: Type.Optional(
    Type.Unknown({ description: 'The step of a retry; filter and counts of a bulk replay' }),
  ),
  createdAt: Timestamp,
})

export const AppSchema = Type.Object({ name: Type.String(), createdAt: Timestamp })

export const RunnerSchema = Type.Object({
  runnerId: Type.String({ description: 'Its stable id, or its URL when it gave none' }),
  app: Type.String(),
  url: Type.String({ description: 'Where it is invoked; `conn://…` on a socket' }),
  framework: Type.Optional(Type.String({ description: 'Serve adapter' })),
  runtime: Type.Optional(Type.String()),
  sdkName: Type.Optional(Type.String()),
  version: Type.Optional(Type.String({ description: 'Of the SDK' })),
  region: Type.Optional(Type.String()),
  keyFingerprint: Type.Optional(
    Type.String({ description: 'First 16 hex digits of the SHA-256 of its signing key' }),
  ),
  keyMatches: Type.Optional(Type.Boolean({ description: 'Whether the engine signs with the same key' })),
  lastSeenAt: timestamp('Last registration or heartbeat'),
  live: Type.Boolean({ description: 'On a socket, or heard of lately' }),
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
  name: Type.String({
    minLength: 1,
    maxLength: EVENT_BOUNDS.name,
    description: 'Matched against the triggers of every workflow, and against waiting runs',
  }),
  app: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: EVENT_BOUNDS.app,
      description: "Only this app's workflows; absent means all",
    }),
  ),
  data: Type.Optional(Type.Unknown({ description: 'Payload, any JSON' })),
  dedupeId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: EVENT_BOUNDS.dedupeId,
      description: 'A repeat within 24 hours (per app) is dropped',
    }),
  ),
  runner: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: EVENT_BOUNDS.runner,
      description: 'Pins the runs it starts to this runner',
    }),
  ),
  targetApp: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: EVENT_BOUNDS.targetApp,
      description: 'Sends it across to this app: only its triggers are considered',
    }),
  ),
})

const flags = {
  skipped: Type.Optional(Type.Boolean({ description: 'A singleton policy dropped it' })),
  dropped: Type.Optional(Type.Boolean({ description: 'A rate limit shed it' })),
  debounced: Type.Optional(Type.Boolean({ description: 'Held back to be joined with others' })),
  batched: Type.Optional(Type.Boolean({ description: 'Buffered into a batch' })),
  deduped: Type.Optional(Type.Boolean({ description: 'Seen before within its window' })),
}

export const TriggeredSchema = Type.Object({
  workflow: Type.String(),
  app: Type.String(),
  runId: Type.Optional(Type.String({ description: 'The run it started' })),
  ...flags,
})

export const SendEventReplySchema = Type.Object({
  eventId: Type.Optional(Type.String()),
  runId: Type.Optional(Type.String({ description: 'The first run it started' })),
  woke: Type.Optional(Type.Integer({ minimum: 0, description: 'Waiting runs it resumed' })),
  triggered: Type.Optional(Type.Array(TriggeredSchema)),
  ...flags,
  suspended: Type.Optional(Type.Boolean({ description: 'The namespace is suspended: nothing was started' })),
})

const keyed = {
  key: Type.String({
    description: "The value of its key; '' without one, and when the key cannot be evaluated",
  }),
  error: Type.Optional(Type.String({ description: 'Why its expression cannot be evaluated' })),
}

/** What a dry run says of one workflow. */
export const DryRunWorkflowSchema = Type.Object({
  workflow: Type.String(),
  app: Type.String(),
  trigger: Type.Object(
    { event: Type.String(), if: Type.Optional(Type.String()) },
    { description: 'The trigger that matches, else the first whose name does' },
  ),
  matches: Type.Boolean({ description: 'Whether the event meets the trigger, filter included' }),
  reason: Type.Optional(Type.String({ description: 'Why it does not' })),
  outcome: Type.Optional({
    ...text('run', 'deduped', 'dropped', 'skipped', 'debounced', 'batched'),
    description: 'What would become of the event; `run`: a run is started, or another joined to it',
  }),
  cancels: Type.Optional(
    Type.Array(Type.String(), { description: 'Runs that a singleton policy would cancel' }),
  ),
  policies: Type.Optional(
    Type.Object(
      {
        idempotency: Type.Optional(Type.Object(keyed)),
        rateLimit: Type.Optional(
          Type.Object({
            ...keyed,
            verdict: Type.Literal('not asked', { description: 'Asking would take a token' }),
          }),
        ),
        singleton: Type.Optional(Type.Object({ ...keyed, mode: text('skip', 'cancel') })),
        debounce: Type.Optional(Type.Object(keyed)),
        batch: Type.Optional(Type.Object(keyed)),
        priority: Type.Optional(Type.Object({ value: Type.Number(), error: Type.Optional(Type.String()) })),
        concurrency: Type.Optional(
          Type.Array(
            Type.Object({
              ...keyed,
              limit: Type.Integer({ minimum: 1 }),
              scope: text('workflow', 'app', 'namespace'),
            }),
          ),
        ),
        throttle: Type.Optional(Type.Object(keyed)),
      },
      { description: 'The policies the workflow has, in the order in which they are asked' },
    ),
  ),
})

/** Answer of `POST /events?dryRun=1`. */
export const DryRunReplySchema = Type.Object({
  dryRun: Type.Literal(true),
  deduped: Type.Optional(Type.Boolean({ description: 'The dedupe id is taken: nothing would happen' })),
  suspended: Type.Optional(Type.Boolean({ description: 'The namespace is suspended: nothing would start' })),
  waiters: Type.Integer({ minimum: 0, description: 'Waiting runs it would resume' }),
  workflows: Type.Array(DryRunWorkflowSchema, {
    description: 'Workflows with a trigger for that name, sorted by workflow, then app',
  }),
})

export const EventRecordSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  app: Type.Optional(Type.String()),
  source: text('api', 'emit'),
  data: Type.Optional(Type.Unknown({ description: 'The payload, to the letter' })),
  receivedAt: timestamp('When it arrived'),
  woke: Type.Integer({ minimum: 0, description: 'Waiting runs it resumed' }),
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
