// Schemas of runs, their steps, log lines, timeline and counts (contract §2.1 to §2.4, decisions "Run", "Step record").
// Absent means absent: a field that does not apply is left out, never null.

import Type from 'typebox'
import { DurationMs, Timestamp, text, timestamp } from './schema-parts.ts'
import { LogLevelSchema, StepErrorSchema } from './wire-schema.ts'

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
  error: Type.Optional(
    Type.String({ description: 'Of a pass that is repeated as a whole: why the last one came to nothing' }),
  ),
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
      {
        live: Type.Integer({ minimum: 0 }),
        stale: Type.Integer({ minimum: 0 }),
        disconnected: Type.Optional(
          Type.Integer({ minimum: 1, description: 'Connect runners without a socket, where there are any' }),
        ),
      },
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
