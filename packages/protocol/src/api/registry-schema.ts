// Schemas of apps, runners and workflow definitions, as the API lists them, and of the direct start of a workflow.

import Type from 'typebox'
import { AttributesSchema } from '../wire/attributes-schema.ts'
import { KEY_CHARS_MAX } from '../wire/bounds.ts'
import { BudgetSchema } from '../wire/budget-schema.ts'
import { TriggerSchema } from '../wire/schema.ts'
import { count, name, optionalFlag, optionalText, text, timestamp } from '../wire/schema-parts.ts'
import { DryRunWorkflowSchema, tokenOfNewRun } from './event-schema.ts'
import { RunSummarySchema } from './run-schema.ts'
import { IF_RUNNING } from './values.ts'

export const AppSchema = Type.Object({ name: Type.String(), createdAt: timestamp() })

export const RunnerSchema = Type.Object({
  runnerId: Type.String({
    description: 'Stable id of the runner, or its URL when it registered without an id',
  }),
  app: Type.String(),
  url: Type.String({ description: 'Where the engine invokes the runner; `conn://…` for a Connect runner' }),
  framework: optionalText('Serve adapter of the SDK'),
  runtime: optionalText(),
  language: optionalText(),
  sdkName: optionalText(),
  version: optionalText('Version of the SDK'),
  region: optionalText(),
  keyFingerprint: optionalText("First 16 hex digits of the SHA-256 of the runner's signing key"),
  keyMatches: optionalFlag('Whether the engine signs with the same key'),
  lastSeenAt: timestamp('Last registration or heartbeat'),
  live: Type.Boolean({ description: 'Whether the runner has an open socket or a recent heartbeat' }),
  workflows: Type.Array(
    Type.Object({ name: Type.String(), definitionHash: optionalText('The same for equal definitions') }),
    { description: 'The workflows that it serves' },
  ),
  definitionHash: optionalText('The same for runners that serve the same workflows by equal definitions'),
  inFlight: count('Passes in progress'),
  room: Type.Optional(count('How many more passes it accepts at once; absent: no limit')),
  passesPerMin: count('Passes that ended within the last minute'),
  p95Ms: Type.Optional(count('95 % of its newest 128 passes took no longer')),
  failures: count('Passes that failed since the engine started'),
  lastFailure: Type.Optional(Type.Object({ at: timestamp(), message: Type.String() })),
})

export const ScheduleSchema = Type.Object({
  cron: Type.String(),
  timezone: Type.String(),
  nextRunAt: timestamp(),
  lastRunAt: Type.Optional(timestamp()),
  lastRunId: optionalText(),
  paused: optionalFlag('It starts no runs until it is resumed'),
})

/** The part of a workflow that its registration determines. */
const DEFINED = {
  retry: Type.Object({
    maxAttempts: Type.Union([Type.Integer(), Type.Literal('unlimited')]),
    initialMs: Type.Number(),
    factor: Type.Number(),
    maxMs: Type.Number(),
    jitter: Type.Number(),
    maxElapsedMs: Type.Optional(Type.Number()),
    nonRetriable: Type.Optional(Type.Array(Type.String())),
  }),
  triggers: Type.Array(TriggerSchema),
  flowControl: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  onFailure: Type.Boolean(),
  cleanup: optionalFlag('The workflow has a handler for cancelled runs'),
  handlerRetries: Type.Optional(Type.Integer()),
  whenExhausted: Type.Optional(text('fail', 'pause')),
  retention: Type.Optional(
    Type.Record(Type.String(), Type.Number(), { description: 'How long ended runs are kept, in ms by status' }),
  ),
  budget: Type.Optional(BudgetSchema),
  description: optionalText('The purpose of the workflow'),
  input: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'JSON Schema of the input. A direct start is validated by it, an event is not',
    }),
  ),
  tool: optionalFlag('Assistants are offered the workflow as a tool'),
  attributes: Type.Optional(
    Type.Record(Type.String(), Type.String(), { description: 'Expressions over the event of a new run' }),
  ),
  inheritAttributes: Type.Optional(
    Type.Array(Type.String(), { description: 'Attributes that a child takes from its parent' }),
  ),
}

export const WorkflowSchema = Type.Object({
  name: Type.String(),
  app: Type.String(),
  ...DEFINED,
  scheduled: Type.Boolean(),
  schedules: Type.Array(ScheduleSchema),
  updatedAt: timestamp('When the definition last changed'),
  pausedAt: Type.Optional(timestamp('Since then the workflow starts no runs: new runs stay queued')),
  limits: Type.Optional(
    Type.Object(
      { concurrency: Type.Optional(Type.Integer()), throttle: Type.Optional(Type.Integer()) },
      { description: 'Limits that an operator has set: they override the registered ones. 0: no run starts' },
    ),
  ),
})

const operatorLimit = (description: string) =>
  Type.Optional(Type.Union([Type.Integer({ minimum: 0, maximum: 1_000_000 }), Type.Null()], { description }))

/** The body that sets limits of a workflow. */
export const WorkflowLimitsChangeSchema = Type.Object({
  concurrency: operatorLimit(
    'Overrides the registered concurrency limit without a key, else the first one. 0 starts no runs; `null` or absent: the registered limit applies',
  ),
  throttle: operatorLimit(
    'Starts in the registered period of the throttle. 0 starts no runs; `null` or absent: the registered limit applies',
  ),
})

export const PastDefinitionSchema = Type.Object({
  hash: Type.String({ description: 'The same for equal definitions; the `definitionHash` of runners' }),
  registeredAt: timestamp('When it took effect'),
  runner: optionalText('The runner that registered it; absent if an earlier version of the engine stored it'),
  definition: Type.Object(DEFINED),
})

/** The body of a direct start of a workflow. */
export const StartRunSchema = Type.Object({
  input: Type.Optional(Type.Unknown({ description: 'Input of the run, any JSON' })),
  runId: Type.Optional(
    Type.String({
      pattern: '^run_[A-Za-z0-9_-]{8,64}$',
      description: 'Id of the run: `run_` and 8 to 64 letters, digits, `_` or `-`. A repeat starts nothing',
    }),
  ),
  key: Type.Optional(
    name(KEY_CHARS_MAX, 'A workflow has at most one live run with a key. The key is free again after the run ends'),
  ),
  ifRunning: Type.Optional(
    Type.Enum([...IF_RUNNING], {
      description:
        'With `key`, while a run with that key is live: `use` (default) answers that run, `refuse` is `already_running`, `cancel` cancels it and starts the new run in one commit',
    }),
  ),
  attributes: Type.Optional(AttributesSchema),
  dryRun: Type.Optional(Type.Boolean({ description: 'Answers what the call would do, and starts nothing' })),
})

const { priority, concurrency, throttle, singleton } = DryRunWorkflowSchema.properties.policies.properties

/** Reply of a direct start. */
export const StartedRunSchema = Type.Object({
  ...RunSummarySchema.properties,
  existing: Type.Optional(
    Type.Literal(true, { description: 'The run already exists, by its `runId` or `key`: no run was started' }),
  ),
  ...tokenOfNewRun,
})

/** The effect that a start would have. */
export const StartPreviewSchema = Type.Object({
  dryRun: Type.Literal(true),
  workflow: Type.String(),
  app: Type.String(),
  outcome: Type.Unsafe<'run' | 'repeat' | 'skipped'>({
    type: 'string',
    enum: ['run', 'repeat', 'skipped'],
    description:
      '`run`: a run would start; `repeat`: `run` has the id already, or is live and has the key; `skipped`: a singleton or the key has `liveRunId`, so the start is refused',
  }),
  liveRunId: optionalText('The live run for which the start is refused'),
  run: Type.Optional(RunSummarySchema),
  paused: Type.Optional(Type.Boolean({ description: 'The workflow is paused: the run would stay queued' })),
  policies: Type.Object(
    { priority, concurrency, throttle, singleton },
    { description: 'The policies that hold, order or refuse the run, with the values of their keys' },
  ),
})
