// Schemas of the control actions (cancel, pause, resume, replay, …): their requests, replies and audit log. And of signals and updates:
// events for one run.

import Type, { type TSchema } from 'typebox'
import { APP_NAME_CHARS_MAX, NAME_CHARS_MAX } from '../wire/bounds.ts'
import { count, duration, name, optionalFlag, optionalText, text, timestamp } from '../wire/schema-parts.ts'
import { DEDUPE_ID_CHARS_MAX } from './event-schema.ts'
import { RunBudgetSchema, RunStatusSchema } from './run-schema.ts'
import { CONTROL_ACTIONS, RUN_TYPES, type RunFilterName } from './values.ts'

/** Longest reason of a step that is settled by hand. */
const SETTLE_REASON_CHARS_MAX = 1000

export const ReplayRequestSchema = Type.Object({
  input: Type.Optional(
    Type.Unknown({
      description: "Input of the new run; `null` is an input. Absent: a copy of the old run's input",
    }),
  ),
})

export const CancelRequestSchema = Type.Object({
  cleanup: Type.Optional(
    Type.Boolean({ description: 'With `false` no cleanup run follows: nothing is rolled back. Default: true' }),
  ),
})

export const RetryFromStepRequestSchema = Type.Object({
  step: Type.String({ minLength: 1, description: "A step's name, with `:n` for repeats, or its hashed id" }),
})

export const SettleStepRequestSchema = Type.Object({
  data: Type.Optional(Type.Unknown({ description: 'Result of the step. Either this or `error`' })),
  error: Type.Optional(
    Type.Object(
      {
        message: Type.String(),
        name: Type.Optional(Type.String()),
        stack: Type.Optional(Type.String()),
        code: Type.Optional(Type.String()),
        fields: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      },
      { description: 'Error of the step, which the handler can catch' },
    ),
  ),
  reason: Type.String({
    minLength: 1,
    maxLength: SETTLE_REASON_CHARS_MAX,
    description: 'Kept with the step and in the audit log',
  }),
})

export const CreateRunTokenSchema = Type.Object({
  ttl: Type.Optional(
    duration('How long the token is valid: `"15m"`, or milliseconds; from 1 s to 24 h, 1 h by default'),
  ),
})

export const RunTokenSchema = Type.Object({
  token: Type.String({ description: 'Reads this run, its result and its streams. It is not stored' }),
  expiresAt: timestamp('The token is valid until this time'),
})

/** Reply of `POST /runs/{id}/budget`. */
export const SetBudgetReplySchema = Type.Object({
  runId: Type.String({ description: 'The first run of the chain, with which the budget began' }),
  budget: RunBudgetSchema,
  resumed: count('Number of runs that were paused for the budget and have been resumed'),
})

/** The filters of the list that a bulk replay lacks: the action `replay` of `POST /bulk` has them. */
type NotOfReplay =
  | ('ids' | 'bulkId' | 'kind' | 'until' | 'endedSince' | 'endedUntil' | 'error' | 'parentRunId')
  | ('eventId' | 'replayOf' | 'runner' | 'key' | 'waitingFor' | 'attribute' | 'q' | 'deep' | 'root')

/** At least one member is required. */
export const BulkReplayRequestSchema = Type.Object({
  app: Type.Optional(name(APP_NAME_CHARS_MAX)),
  workflow: Type.Optional(name(NAME_CHARS_MAX)),
  status: Type.Optional(RunStatusSchema),
  runType: Type.Optional(text(...RUN_TYPES)),
  since: Type.Optional(timestamp()),
} satisfies Record<Exclude<RunFilterName, NotOfReplay>, TSchema>)

export const BulkReplayReplySchema = Type.Object({
  matched: count('Runs that match the filter'),
  replayed: count('Runs that were forked'),
  skipped: count('Runs that were skipped because they have not finished'),
  failed: count('Runs that could not be forked'),
  capped: Type.Boolean({
    description: 'More finished runs match than one call replays: narrow the filter and call again',
  }),
})

/** One entry of the audit log. */
export const ControlActionSchema = Type.Object({
  id: Type.String(),
  action: text(...CONTROL_ACTIONS),
  runId: optionalText('The run acted on'),
  newRunId: optionalText('The run forked from it'),
  actor: optionalText('Label of the API key that made the call'),
  detail: Type.Optional(
    Type.Unknown({ description: 'The step of a retry; the filter and counts of a bulk replay; the id of a setting' }),
  ),
  createdAt: timestamp(),
})

/** Starts a workflow with an event of the log. */
export const RedriveRequestSchema = Type.Object({
  workflow: name(NAME_CHARS_MAX, 'The workflow to start; its triggers do not matter'),
  app: Type.Optional(name(APP_NAME_CHARS_MAX, 'Its app; needed if several apps have a workflow of that name')),
})

export const BulkRedriveRequestSchema = Type.Object({
  ...RedriveRequestSchema.properties,
  name: name(NAME_CHARS_MAX, 'Name of the events'),
  since: timestamp(
    'Only events that arrived at this time or later. Required, so that no call redrives the whole log by mistake',
  ),
  until: Type.Optional(timestamp('Only events that arrived before this time')),
  dryRun: Type.Optional(Type.Boolean({ description: 'Counts, and starts nothing' })),
})

export const BulkRedriveReplySchema = Type.Object({
  matched: count('Events that were read'),
  started: count('Runs that were started; of a dry run, that would be'),
  skipped: count('Events that started the workflow before, are in a buffer of it, or were erased'),
  failed: count('Events whose run could not be created'),
  capped: Type.Boolean({ description: 'A call starts at most 1,000 runs, and more events remain: call again' }),
})

export const SendSignalSchema = Type.Object({
  data: Type.Optional(Type.Unknown({ description: 'Payload, any JSON' })),
  dedupeId: Type.Optional(
    name(DEDUPE_ID_CHARS_MAX, 'A repeat of the same id to the same run within 24 hours has no effect'),
  ),
})

export const SignalReplySchema = Type.Object({
  eventId: Type.String({ description: 'The signal in the event log' }),
  woke: count('1 if the run waited for the signal, else 0'),
  deduped: optionalFlag('The signal was sent before: nothing was changed'),
})

/** Reply to an update that was answered. */
export const UpdateReplySchema = Type.Object({
  updateId: Type.String({ description: 'The update in the event log' }),
  reply: Type.Unknown({ description: 'The answer of the handler; null if it answered without a value' }),
})

/** Reply to an update that has not been answered yet. */
export const OpenUpdateSchema = Type.Object({
  updateId: Type.String({ description: 'The update in the event log, for `GET /runs/{id}/updates/{updateId}`' }),
})

/** A signal or an update that no step of the run has taken. */
export const WaitingSignalSchema = Type.Object({
  eventId: Type.String(),
  name: Type.String(),
  kind: text('signal', 'update'),
  receivedAt: timestamp('When it arrived'),
})

export const WaitingSignalsSchema = Type.Object({
  signals: Type.Array(WaitingSignalSchema, { description: 'Oldest first, 100 at most' }),
  more: optionalFlag('There are more'),
})
