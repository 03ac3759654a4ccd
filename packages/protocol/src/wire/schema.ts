// Schemas of the messages between engine and runner (`docs/wire-protocol.md`). Validation, TypeScript types and
// documentation derive from them. Unknown fields are allowed everywhere.

import Type from 'typebox'
import { AttributesSchema, attributeMembers } from './attributes-schema.ts'
import {
  APP_NAME_CHARS_MAX,
  CRON_CHARS_MAX,
  DELAY_MS_MAX,
  EVENTS_PER_STEP_MAX,
  EXPRESSION_CHARS_MAX,
  FEATURE_CHARS_MAX,
  FEATURES_MAX,
  INSTANCE_CHARS_MAX,
  KEY_CHARS_MAX,
  LOG_INDEX_MAX,
  NAME_CHARS_MAX,
  NON_RETRIABLE_MAX,
  RUNNER_ID_CHARS_MAX,
  STEP_NAME_CHARS_MAX,
  URL_CHARS_MAX,
} from './bounds.ts'
import { BudgetSchema, SpentSchema } from './budget-schema.ts'
import { describedMembers } from './described-members.ts'
import { DurationSchema, flowControlMembers } from './flow-control-schema.ts'
import { EventMatchSchema, MatchValuesSchema } from './match-schema.ts'
import { name, optionalFlag, optionalText, SignalNameSchema } from './schema-parts.ts'
import { StepLimitsSchema, turnMembers } from './step-limit-schema.ts'

export const TriggerSchema = Type.Object({
  event: Type.Optional(name(NAME_CHARS_MAX)),
  if: Type.Optional(name(EXPRESSION_CHARS_MAX)),
  match: Type.Optional(MatchValuesSchema),
  cron: Type.Optional(name(CRON_CHARS_MAX)),
})

const retryMembers = {
  maxAttempts: Type.Optional(Type.Union([Type.Integer({ minimum: 1, maximum: 1000 }), Type.Literal('unlimited')])),
  initialMs: Type.Optional(Type.Number({ minimum: 0, maximum: 86_400_000 })),
  factor: Type.Optional(Type.Number({ minimum: 1, maximum: 100 })),
  maxMs: Type.Optional(Type.Number({ minimum: 0, maximum: 604_800_000 })),
  jitter: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  nonRetriable: Type.Optional(
    Type.Array(name(NAME_CHARS_MAX), {
      maxItems: NON_RETRIABLE_MAX,
      description: 'Names and codes of errors after which nothing is tried again',
    }),
  ),
}

export const RetryPolicySchema = Type.Object({
  ...retryMembers,
  maxElapsed: Type.Optional(DurationSchema),
})

/** The policy in an opcode, where durations are milliseconds. */
const StepRetrySchema = Type.Object({
  ...retryMembers,
  maxElapsed: Type.Optional(Type.Number({ minimum: 0, maximum: DELAY_MS_MAX })),
})

export const WorkflowRegistrationSchema = Type.Object({
  name: name(NAME_CHARS_MAX),
  triggers: Type.Optional(Type.Array(TriggerSchema, { maxItems: 100 })),
  retry: Type.Optional(RetryPolicySchema),
  onFailure: optionalFlag(),
  cleanup: optionalFlag('The workflow has a handler for cancelled runs, which a run of kind `cleanup` calls.'),
  handlerRetries: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      description:
        'Tries of a pass that fails outside its steps. Default: `retry.maxAttempts`, if set, for a handler that throws, else 8. With 1 no pass is repeated.',
    }),
  ),
  whenExhausted: Type.Optional(
    Type.Enum(['fail', 'pause'], {
      description: 'What happens to a run after all tries of a step or a pass; by default it fails.',
    }),
  ),
  retention: Type.Optional(
    Type.Object(
      {
        succeeded: Type.Optional(DurationSchema),
        failed: Type.Optional(DurationSchema),
        cancelled: Type.Optional(DurationSchema),
      },
      {
        description: "How long ended runs of the workflow are kept, in place of the engine's retention of that status.",
      },
    ),
  ),
  budget: Type.Optional(BudgetSchema),
  ...describedMembers,
  ...attributeMembers,
  ...flowControlMembers,
})

/** Absent: none, as from an engine that does not know the field. */
export const EngineFeatures = Type.Optional(
  Type.Array(Type.String(), { description: 'Optional parts of the protocol that this engine knows.' }),
)

export const RegisterRequestSchema = Type.Object({
  app: name(APP_NAME_CHARS_MAX),
  runner: Type.Optional(name(RUNNER_ID_CHARS_MAX)),
  url: name(URL_CHARS_MAX),
  runtime: Type.Optional(Type.String({ maxLength: 64 })),
  language: Type.Optional(Type.String({ maxLength: 64 })),
  version: Type.Optional(Type.String({ maxLength: 64 })),
  framework: Type.Optional(Type.String({ maxLength: 64 })),
  sdkName: Type.Optional(Type.String({ maxLength: 128 })),
  region: Type.Optional(Type.String({ maxLength: 64 })),
  keyFingerprint: Type.Optional(
    Type.String({
      pattern: '^[0-9a-fA-F]{16}$',
      description:
        "First 16 hex digits of the SHA-256 of the runner's signing key. The API shows this value, so anything else is refused.",
    }),
  ),
  protocolVersion: Type.Optional(Type.Number()),
  sleeps: optionalFlag(
    'The platform stops the runner between invokes: it is not forgotten for its silence while no later runner serves its workflows.',
  ),
  instance: Type.Optional(
    name(
      INSTANCE_CHARS_MAX,
      'The process, where several register as the same runner: behind one address, for example.',
    ),
  ),
  leaving: optionalFlag(
    'The process shuts down: unless another instance of the runner is live, no more invokes are sent to it until it registers again. Nothing else of the registration changes.',
  ),
  features: Type.Optional(
    Type.Array(name(FEATURE_CHARS_MAX), {
      maxItems: FEATURES_MAX,
      description: 'Optional parts of the protocol that the runner knows. Unknown ones are ignored.',
    }),
  ),
  limits: Type.Optional(StepLimitsSchema),
  workflows: Type.Array(WorkflowRegistrationSchema, { maxItems: 1000 }),
})

export const RegisterReplySchema = Type.Object({
  ok: Type.Literal(true),
  protocolVersion: Type.Integer(),
  runnerId: Type.String(),
  workflows: Type.Integer({ description: 'Number of registered workflows.' }),
  heartbeatMs: Type.Integer({ description: 'Repeat the registration at least this often.' }),
  staleAfterMs: Type.Integer({
    description: 'Without another registration the runner is stale after this long.',
  }),
  keyMatches: optionalFlag(),
  features: EngineFeatures,
  warnings: Type.Array(Type.String()),
})

/** Members of every error, and of every cause of one. */
const errorMembers = {
  message: Type.String(),
  name: optionalText(),
  code: optionalText('The `code` of the thrown error, else one of this protocol such as `step_timeout`'),
  fields: Type.Optional(
    Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]), {
      description: 'Own fields of the thrown error that are scalars; those that name a secret are `[REDACTED]`',
    }),
  ),
}

/** Not a recursive schema: generated clients would get a type for each level. */
const CauseSchema = Type.Unsafe<ErrorCause>(
  Type.Object({
    ...errorMembers,
    cause: Type.Optional(Type.Unknown({ description: 'The cause of the cause, in the same form; at most 5 in all' })),
  }),
)

export const StepErrorSchema = Type.Object({
  ...errorMembers,
  stack: optionalText('With the stacks of the causes'),
  stepName: optionalText('The step that the error comes from, where it is not the step that has the error'),
  cause: Type.Optional(CauseSchema),
})

/** A cause of an error. */
export interface ErrorCause {
  message: string
  name?: string
  code?: string
  fields?: Record<string, string | number | boolean | null>
  cause?: ErrorCause
}

/** An error as a runner sends it. The other members may be anything, since errors differ between languages. */
export const SentErrorSchema = Type.Pick(StepErrorSchema, ['message', 'stack', 'name'])

export const LogLevelSchema = Type.Enum(['debug', 'info', 'warn', 'error'])

export const RunnerLogLineSchema = Type.Object({
  level: LogLevelSchema,
  message: Type.String(),
  fields: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  scope: Type.String({ description: 'Step name, or @root for the handler.' }),
  index: Type.Integer({ minimum: 0, maximum: LOG_INDEX_MAX, description: 'Counter within the scope.' }),
  tsMs: Type.Optional(Type.Number()),
})

const opcode = { id: name(256), name: Type.String({ maxLength: STEP_NAME_CHARS_MAX }) }
const MeasuredMs = Type.Number({ minimum: 0 })
const DelayMs = Type.Number({ minimum: 0, maximum: DELAY_MS_MAX })

const WaitSince = Type.Optional(Type.Union([Type.Literal('run'), Type.Literal('now')]))

/** The events that the handler was given: those of its first settled steps, except these. */
export const GivenSchema = Type.Object({
  settled: Type.Integer({ minimum: 0 }),
  except: Type.Optional(Type.Array(Type.String())),
})

export const OpcodeSchema = Type.Union([
  Type.Object({
    op: Type.Literal('StepRun'),
    ...opcode,
    data: Type.Optional(Type.Unknown()),
    error: Type.Optional(SentErrorSchema),
    retriable: optionalFlag(),
    retryAfterMs: Type.Optional(DelayMs),
    catchable: optionalFlag(),
    retry: Type.Optional(StepRetrySchema),
    rollback: optionalFlag(
      'The step can be undone: a run of kind `cleanup` follows a failed or cancelled run with it.',
    ),
    spent: Type.Optional(SpentSchema),
    offsetMs: Type.Optional(MeasuredMs),
    durationMs: Type.Optional(MeasuredMs),
  }),
  Type.Object({ op: Type.Literal('StepLimit'), ...opcode, ...turnMembers }),
  Type.Object({ op: Type.Literal('Sleep'), ...opcode, sleepMs: DelayMs }),
  Type.Object({ op: Type.Literal('SleepUntil'), ...opcode, sleepUntilMs: Type.Number() }),
  Type.Object({
    op: Type.Literal('WaitForEvent'),
    ...opcode,
    eventName: name(NAME_CHARS_MAX),
    timeoutMs: Type.Optional(DelayMs),
    if: Type.Optional(Type.String({ maxLength: 4096 })),
    match: Type.Optional(EventMatchSchema),
    since: WaitSince,
    given: Type.Optional(GivenSchema),
  }),
  Type.Object({
    op: Type.Literal('WaitForSignal'),
    ...opcode,
    signal: SignalNameSchema,
    timeoutMs: Type.Optional(DelayMs),
    since: WaitSince,
    given: Type.Optional(GivenSchema),
  }),
  Type.Object({
    op: Type.Literal('ReplyToUpdate'),
    ...opcode,
    updateId: name(NAME_CHARS_MAX),
    data: Type.Optional(Type.Unknown()),
    rejected: optionalText('Why the update is rejected; without it, `data` is its answer'),
  }),
  Type.Object({ op: Type.Literal('WaitForCallback'), ...opcode, timeoutMs: Type.Optional(DelayMs) }),
  Type.Object({
    op: Type.Literal('WaitForRun'),
    ...opcode,
    runId: name(NAME_CHARS_MAX),
    timeoutMs: Type.Optional(DelayMs),
  }),
  Type.Object({
    op: Type.Literal('RunWorkflow'),
    ...opcode,
    childName: name(NAME_CHARS_MAX),
    childApp: Type.Optional(name(APP_NAME_CHARS_MAX)),
    childData: Type.Optional(Type.Unknown()),
    timeoutMs: Type.Optional(DelayMs),
    priority: Type.Optional(Type.Number()),
  }),
  Type.Object({
    op: Type.Literal('StartRun'),
    ...opcode,
    workflow: name(NAME_CHARS_MAX),
    app: Type.Optional(name(APP_NAME_CHARS_MAX)),
    data: Type.Optional(Type.Unknown()),
    key: Type.Optional(name(KEY_CHARS_MAX)),
    ifRunning: Type.Optional(Type.Union([Type.Literal('use'), Type.Literal('refuse'), Type.Literal('cancel')])),
    delayMs: Type.Optional(DelayMs),
    atMs: Type.Optional(Type.Number()),
    attributes: Type.Optional(AttributesSchema),
  }),
  Type.Object({ op: Type.Literal('CancelRun'), ...opcode, runId: name(NAME_CHARS_MAX) }),
  Type.Object({
    op: Type.Literal('Emit'),
    ...opcode,
    eventName: name(NAME_CHARS_MAX),
    data: Type.Optional(Type.Unknown()),
    events: Type.Optional(
      Type.Array(
        Type.Object({
          eventName: name(NAME_CHARS_MAX),
          noData: optionalFlag(),
          delayMs: Type.Optional(DelayMs),
          atMs: Type.Optional(Type.Number()),
          dedupeId: Type.Optional(name(NAME_CHARS_MAX)),
          attributes: Type.Optional(AttributesSchema),
          app: Type.Optional(name(APP_NAME_CHARS_MAX)),
        }),
        { minItems: 1, maxItems: EVENTS_PER_STEP_MAX },
      ),
    ),
  }),
  Type.Object({
    op: Type.Literal('Webhook'),
    ...opcode,
    webhookUrl: name(URL_CHARS_MAX),
    data: Type.Optional(Type.Unknown()),
  }),
])

export const MemoEntrySchema = Type.Object({
  data: Type.Optional(Type.Unknown()),
  error: Type.Optional(StepErrorSchema),
  pending: optionalFlag(),
  op: optionalText('Kind of the step, for a runner that knows `memo-op`'),
})

/** A step of the run that a cleanup run follows. */
export const FollowedStepSchema = Type.Object({
  ...MemoEntrySchema.properties,
  name: Type.String({ description: 'Name of the step' }),
  rollback: optionalFlag('The step can be undone'),
})

/** The failed or cancelled run that a cleanup run follows. */
export const CleanupContextSchema = Type.Object({
  runId: Type.String({ description: 'The run that is cleaned up after' }),
  status: Type.Enum(['failed', 'cancelled']),
  error: Type.Optional(StepErrorSchema),
  steps: Type.Record(Type.String(), FollowedStepSchema, { description: 'Its memo, in the order of the settlements' }),
})

export const InvokeContextSchema = Type.Object({
  runId: Type.String(),
  workflow: Type.String(),
  attempt: Type.Integer(),
  app: Type.String(),
  runner: Type.String({ description: 'The runner that the run is pinned to; empty for an anycast run.' }),
  onFailure: optionalFlag(),
  error: Type.Optional(StepErrorSchema),
  cleanup: Type.Optional(CleanupContextSchema),
  traceparent: optionalText(),
  features: EngineFeatures,
  invokeTimeoutMs: Type.Optional(
    Type.Integer({ description: 'Answer within this time. The engine waits a little longer for the answer' }),
  ),
  stepAttempts: Type.Optional(
    Type.Record(Type.String(), Type.Integer(), {
      description: 'The attempt that comes next, of each step that is to be tried again',
    }),
  ),
  spentAttempts: Type.Optional(
    Type.Record(Type.String(), Type.Integer(), {
      description: 'Attempts that a step of `stepAttempts` had spent before a resume gave it new ones',
    }),
  ),
  turns: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Ids of the steps whose turn at a limit has come: they may start in this pass',
    }),
  ),
  lastTry: optionalFlag('The run fails if its handler throws in this pass, before it has stored a step'),
  inbox: optionalFlag('Events were delivered to the run: the answer that ends it has `given`'),
  checkpointToken: optionalText('Opens `POST /invokes/{token}/checkpoints` for this pass'),
  checkpointUrl: optionalText('The URL of that route, with the token'),
  callbackUrl: optionalText(
    'The beginning of the URL of every callback of the run, for a runner that knows `callbacks`',
  ),
  callbackKey: optionalText('The key that the rest of such a URL is derived with; a secret'),
})

export const InvokeRequestSchema = Type.Object({
  event: Type.Object({
    id: optionalText(),
    name: Type.String(),
    data: Type.Optional(Type.Unknown()),
    events: Type.Optional(
      Type.Array(Type.Object({ id: Type.String(), name: Type.String(), receivedAt: Type.String() }), {
        description: 'The events whose payloads are the list `data`, for a runner that knows `batch-events`',
      }),
    ),
  }),
  steps: Type.Record(Type.String(), MemoEntrySchema),
  ctx: InvokeContextSchema,
})
