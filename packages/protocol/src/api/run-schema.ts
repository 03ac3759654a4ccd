// Schemas of runs, their log lines, timeline and counts. A field that does not apply is left out, never null.

import Type from 'typebox'
import { AttributesSchema } from '../wire/attributes-schema.ts'
import { EventMatchSchema } from '../wire/match-schema.ts'
import { LogLevelSchema, StepErrorSchema } from '../wire/schema.ts'
import { count, countOrMore, optionalText, text, timestamp } from '../wire/schema-parts.ts'
import { MaxAttemptsSchema, StepStatusSchema } from './step-schema.ts'
import { FOLLOW_ON_KINDS, RUN_STATUSES, RUN_TYPES, WAITING_KINDS } from './values.ts'

export const RunStatusSchema = text(...RUN_STATUSES)

export const FollowOnKindSchema = Type.Optional(
  Type.Enum([...FOLLOW_ON_KINDS], {
    description:
      'Absent for a run of the handler; `onFailure` for a run of the failure handler; `cleanup` for a run that undoes steps and calls the handler of cancelled runs',
  }),
)

export const RunErrorCodeSchema = text(
  'step_failed',
  'handler_failed',
  'nondeterministic',
  'runner_rejected',
  'runner_unreachable',
  'runner_not_registered',
  'response_too_large',
  'invalid_response',
  'timeout',
  'limit_exceeded',
  'budget_exceeded',
)

export const RunErrorSchema = Type.Object({
  ...StepErrorSchema.properties,
  code: Type.Optional(RunErrorCodeSchema),
  stepName: optionalText('The step that failed and is not retried again'),
})

export const WaitingForSchema = Type.Object({
  kind: text(...WAITING_KINDS),
  stepName: optionalText('The step that waits, or whose failure paused the run'),
  until: Type.Optional(timestamp('When the wait ends by itself')),
  eventName: optionalText('The event that the run waits for'),
  signal: optionalText('The signal that the run waits for'),
  childRunId: optionalText('The child run that the run waits for'),
  runId: optionalText('The run whose end the run waits for, or whose budget is exceeded'),
  name: optionalText('The name in the budget that is exceeded, or of the limit that a step waits at'),
  limit: Type.Optional(Type.Number({ description: 'The limit that was exceeded' })),
  spent: Type.Optional(Type.Number({ description: 'The amount that was spent when the limit was found exceeded' })),
  key: optionalText('The flow-control key that holds the run, or the key at the limit'),
  error: optionalText('Why the last pass failed, when the whole pass is repeated, or why the run is paused'),
  attempt: Type.Optional(
    Type.Integer({ minimum: 1, description: 'The attempt of the step that failed and is retried' }),
  ),
  maxAttempts: MaxAttemptsSchema,
})

export const RunSummarySchema = Type.Object({
  id: Type.String(),
  workflow: Type.String({ description: 'Name of the workflow' }),
  app: Type.String({ description: 'App that owns the run' }),
  status: RunStatusSchema,
  kind: FollowOnKindSchema,
  triggerKind: text(...RUN_TYPES),
  eventName: optionalText('Name of the event that started the run'),
  eventId: optionalText('Id of the event that started the run'),
  cron: optionalText('The cron expression that started the run'),
  replayOf: optionalText('The run that this run was forked from'),
  continuedFrom: optionalText('The run that this run continues'),
  continuedAs: optionalText('The run that continues this one, which has no result of its own'),
  parentRunId: optionalText(
    'The run that started this run as a child, the failed run that this `onFailure` run handles, or the run that this `cleanup` run follows',
  ),
  startedBy: Type.Optional(
    Type.Object(
      { runId: Type.String(), stepName: Type.String() },
      { description: 'The step of another run that started the run. It is not a parent: both runs end independently' },
    ),
  ),
  runner: optionalText('Id of the runner that the run is pinned to'),
  key: optionalText('The key with which the run was started directly: no other live run of the workflow has it'),
  attempt: Type.Integer({
    minimum: 1,
    description: '1, plus one for every pass that was repeated after a failure',
  }),
  createdAt: timestamp('When the run was accepted'),
  startedAt: Type.Optional(timestamp('When a runner was first invoked for the run')),
  finishedAt: Type.Optional(timestamp('When the run ended')),
  durationMs: Type.Optional(count('Time from `startedAt` to `finishedAt`')),
  currentStepName: optionalText('The step that the run is at'),
  error: Type.Optional(RunErrorSchema),
  waitingFor: Type.Optional(WaitingForSchema),
  attributes: Type.Optional(AttributesSchema),
})

/** A row of `GET /runs`. */
export const ListedRunSchema = Type.Object({
  ...RunSummarySchema.properties,
  position: Type.Optional(
    countOrMore(
      'Number of waiting runs of the same limit and key before this run; only with `position=1`. A text such as `10000+` where not all could be counted',
    ),
  ),
})

const GenerationSchema = Type.Optional(
  Type.Integer({
    minimum: 1,
    description:
      'Number of runs before it in a chain of runs that start each other, as children or by emitted events; absent for the first',
  }),
)

/** The newest progress that the handler of a run reported. */
export const RunProgressSchema = Type.Object({
  value: Type.Unknown({ description: 'As the handler reported it: any JSON up to 16 KiB' }),
  at: timestamp('When the engine stored it'),
})

/** The budget that began with the chain of a run. */
export const RunBudgetSchema = Type.Record(Type.String(), Type.Object({ limit: Type.Number(), spent: Type.Number() }), {
  description: 'The limits of the run and all its descendants, by name, with what they have spent',
})

export const RunSchema = Type.Object({
  ...RunSummarySchema.properties,
  eventIds: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 1000,
      description: 'Ids of the events of the burst or batch that became the run or its source, in the order of the log',
    }),
  ),
  progress: Type.Optional(RunProgressSchema),
  budget: Type.Optional(RunBudgetSchema),
  generation: GenerationSchema,
  input: Type.Optional(Type.Unknown()),
  result: Type.Optional(Type.Unknown()),
})

/** The end of a run: reply of `GET /runs/{id}/result`, and `run` of an event that was sent with `wait`. */
export const RunResultSchema = Type.Object({
  runId: Type.String(),
  status: RunStatusSchema,
  result: Type.Optional(Type.Unknown({ description: 'The result of the handler; only of a run that succeeded' })),
  error: Type.Optional(RunErrorSchema),
})

const runsOfSteps = (description: string) =>
  Type.Optional(
    Type.Array(Type.Object({ stepName: Type.String(), runId: Type.String(), status: RunStatusSchema }), {
      description,
    }),
  )

/** Reply of `GET /runs/{id}/why`. */
export const RunExplanationSchema = Type.Object({
  runId: Type.String(),
  status: RunStatusSchema,
  sentence: Type.String({
    description: 'The explanation in a sentence or two, for people; the wording may change',
  }),
  since: timestamp('When the run entered this status'),
  waitingFor: Type.Optional(WaitingForSchema),
  wakeAt: Type.Optional(timestamp('When the run continues by itself; for a paused run, when its next timer settles')),
  event: Type.Optional(
    Type.Object(
      { name: Type.String(), if: optionalText(), match: Type.Optional(EventMatchSchema) },
      { description: 'The event that the run waits for, and its filter' },
    ),
  ),
  childRunId: optionalText('The child run that the run waits for'),
  children: runsOfSteps('The children that the run waits for, oldest first, at most 20'),
  startedBy: RunSummarySchema.properties.startedBy,
  deliveredTo: optionalText(
    'The run to which a singleton delivered the event of this run. Its handler did not receive the event, so this run started with it',
  ),
  started: runsOfSteps('The runs that its steps started, and that it does not wait for, oldest first, at most 20'),
  position: Type.Optional(count('Number of waiting runs of the same limit and key before this run')),
  blockedBy: Type.Optional(
    Type.Array(Type.Object({ runId: Type.String(), since: timestamp('When it entered its status') }), {
      description: 'The runs that hold the concurrency slot which the run waits for, oldest first, at most 10',
    }),
  ),
  openSteps: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Number of steps that have not settled; absent when there are none' }),
  ),
  runners: Type.Optional(
    Type.Object(
      {
        live: count(),
        stale: count(),
        disconnected: Type.Optional(
          Type.Integer({
            minimum: 1,
            description: 'Connect runners without a socket; absent when there are none',
          }),
        ),
        without: Type.Optional(
          Type.Integer({
            minimum: 1,
            description:
              'Runners that may not take the run because they do not serve its workflow; absent when there are none',
          }),
        ),
      },
      {
        description:
          'Registered runners that may take the run: those of its app, or its pin, that serve its workflow; absent once the run has ended',
      },
    ),
  ),
  missing: Type.Optional(
    Type.Object(
      { app: Type.String(), workflow: Type.String(), runner: optionalText('The runner to which the run is pinned') },
      { description: 'The run waits because no live runner of this app serves this workflow' },
    ),
  ),
  runner: optionalText('The runner that executes the run now, else the runner it is pinned to'),
  passSince: Type.Optional(timestamp('When the current pass was sent to the runner')),
  error: Type.Optional(RunErrorSchema),
  generation: GenerationSchema,
  warnings: Type.Optional(
    Type.Array(Type.String(), { description: 'What may be wrong although the run continues; the wording may change' }),
  ),
})

/** Whole milliseconds. */
const RunnerTimeSchema = Type.Optional(
  Type.Integer({ description: "When the runner wrote the line, by the runner's clock, in epoch ms" }),
)

export const RunLogLineSchema = Type.Object({
  seq: Type.Integer({ minimum: 1, description: 'Ascending within a run, with gaps' }),
  ts: timestamp('When the engine stored the line'),
  tsMs: RunnerTimeSchema,
  level: LogLevelSchema,
  message: Type.String(),
  fields: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'Structured fields; the values of sensitive keys are `[REDACTED]`',
    }),
  ),
  scope: Type.String({ description: 'Step name, or `@root` for the handler' }),
  attempt: Type.Integer({ minimum: 1, description: 'Attempt that logged the line' }),
})

const frame = { seq: Type.Integer(), ts: timestamp(), runId: Type.String() }
export const RunStatusFrameSchema = Type.Object({
  kind: Type.Literal('run_status'),
  ...frame,
  workflow: optionalText('Name of the workflow; only in streams of many runs'),
  app: optionalText('App that owns the run; only in streams of many runs'),
  status: RunStatusSchema,
  currentStepName: optionalText(
    'The step that the run is at. In the stream of one run, a frame with it says that a step is running, and has no id',
  ),
  attempt: Type.Optional(Type.Integer()),
  startedAt: Type.Optional(timestamp('First start of the run; only in `GET /stream`')),
  durationMs: Type.Optional(
    count('From the first start to the end; only in `GET /stream`, and of a run that has ended'),
  ),
  error: Type.Optional(
    Type.Object(
      {
        message: Type.String({ description: 'In streams of many runs at most 200 characters' }),
        name: optionalText(),
        stack: optionalText('Only in the stream of one run'),
        code: Type.Optional(RunErrorCodeSchema),
        stepName: optionalText('The step that failed'),
      },
      { description: 'Why the run failed or was paused, or why its last pass is repeated' },
    ),
  ),
})
/** A stream of many runs has the newest of each run, with its workflow and app; a timeline that is read again has the newest. */
export const ProgressFrameSchema = Type.Object({
  kind: Type.Literal('progress'),
  ...frame,
  workflow: optionalText('Name of the workflow; only in streams of many runs'),
  app: optionalText('App that owns the run; only in streams of many runs'),
  value: Type.Unknown({ description: 'As the handler reported it' }),
})

/** On streams of a namespace: frames of other engines may have been lost. */
export const GapFrameSchema = Type.Object({
  kind: Type.Literal('gap'),
  ts: timestamp('When this engine received messages from the others again: refresh what is shown'),
})

export const TimelineFrameSchema = Type.Union([
  RunStatusFrameSchema,
  Type.Object({
    kind: Type.Literal('step_status'),
    ...frame,
    name: Type.String(),
    status: StepStatusSchema,
    attempt: Type.Integer(),
    maxAttempts: MaxAttemptsSchema,
    index: Type.Optional(Type.Integer()),
    error: Type.Optional(StepErrorSchema),
  }),
  Type.Object({
    kind: Type.Literal('log'),
    ...frame,
    tsMs: RunnerTimeSchema,
    level: LogLevelSchema,
    message: Type.String(),
    fields: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    scope: Type.String(),
    attempt: Type.Integer(),
  }),
  ProgressFrameSchema,
])

export const RunStatsSchema = Type.Object({
  total: count('All runs that match'),
  active: count('Queued, running and waiting'),
  succeeded: count(),
  failed: count(),
  successRate: Type.Integer({
    minimum: 0,
    maximum: 100,
    description: 'Succeeded runs in percent of succeeded and failed runs; 100 when there are none',
  }),
  failedRate: Type.Number({
    minimum: 0,
    maximum: 100,
    description:
      'Failed runs in percent of succeeded and failed runs, with two decimals; 0 only when none failed, 100 only when none succeeded',
  }),
})
