// Schemas of steps and their attempts. A field that does not apply is left out, never null.

import Type from 'typebox'
import { EventMatchSchema } from '../wire/match-schema.ts'
import { StepErrorSchema } from '../wire/schema.ts'
import { count, optionalFlag, optionalText, text, timestamp } from '../wire/schema-parts.ts'
import { TriggeredSchema } from '../wire/triggered-schema.ts'
import { STEP_STATUSES } from './values.ts'

export const StepStatusSchema = text(...STEP_STATUSES)
/** Times that a runner measured of an attempt, and the pass that reported it. */
const reported = {
  ranAt: Type.Optional(timestamp('When the runner began the attempt, by its own clock; absent if it measures nothing')),
  ranMs: Type.Optional(count('How long the runner took')),
  runner: optionalText('The runner that reported it'),
  pass: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Number of the pass that reported it; ascending within a run' }),
  ),
}

export const MaxAttemptsSchema = Type.Optional(
  Type.Integer({
    minimum: 1,
    description: 'Number of the last attempt by the retry policy of the newest failure; absent while none failed',
  }),
)

export const OpSchema = text(
  'StepRun',
  'Sleep',
  'SleepUntil',
  'WaitForEvent',
  'WaitForSignal',
  'ReplyToUpdate',
  'WaitForCallback',
  'WaitForRun',
  'RunWorkflow',
  'StartRun',
  'CancelRun',
  'Emit',
  'Webhook',
)

/** The author and the reason of an end that a step was given by hand. */
export const SettledBySchema = Type.Object(
  {
    actor: optionalText('Label of the API key'),
    reason: Type.String(),
    at: timestamp(),
  },
  { description: 'Who settled the step by hand' },
)

export const StepRecordSchema = Type.Object({
  id: Type.String({ description: 'Hashed step id' }),
  name: Type.String({ description: 'Name of the step in the workflow' }),
  op: OpSchema,
  index: count('Position in execution order, from 0'),
  status: StepStatusSchema,
  attempt: Type.Integer({ minimum: 1, description: 'Number of the current or last attempt' }),
  maxAttempts: MaxAttemptsSchema,
  startedAt: timestamp(),
  finishedAt: Type.Optional(timestamp()),
  durationMs: Type.Optional(count()),
  ...reported,
  data: Type.Optional(Type.Unknown({ description: 'Result of the step' })),
  error: Type.Optional(StepErrorSchema),
  nextAttemptAt: Type.Optional(timestamp('When the next attempt of a failed step starts')),
  wakeAt: Type.Optional(timestamp('When the sleep or the wait ends, or the tries of a step by `maxElapsed`')),
  eventName: optionalText('Name of the event that the step waits for or emitted'),
  match: Type.Optional(EventMatchSchema),
  signal: optionalText('Name of the signal that the step waits for'),
  childRunId: optionalText('The run that the step started'),
  startedRunId: optionalText('The run that the step started or found by its key, and that it does not wait for'),
  awaitedRunId: optionalText('The run whose end the step waits for: the first of its chain'),
  deliveryId: optionalText('The webhook delivery that the step requested'),
  emittedEventId: optionalText('The event that the step emitted'),
  effects: Type.Optional(
    Type.Object(
      {
        woke: count('Number of waiting runs that the event woke'),
        triggered: Type.Array(TriggeredSchema, { description: 'What it did in workflows, ten at most' }),
        more: Type.Optional(count('Number of further workflows')),
      },
      { description: 'What the event that the step emitted did; absent if it woke and triggered nothing' },
    ),
  ),
  carried: optionalFlag('Copied from the run that this run was forked from'),
  timedOut: optionalFlag('The wait ended without an event'),
  settledBy: Type.Optional(SettledBySchema),
  rollback: optionalFlag('The step has a rollback, which undoes it when the run fails or is cancelled'),
  limit: Type.Optional(
    Type.Object(
      { name: Type.String(), key: optionalText() },
      { description: 'The limit at which the step waits for its turns' },
    ),
  ),
})

/** An attempt of a step that has ended. */
export const StepAttemptSchema = Type.Object({
  attempt: Type.Integer({ minimum: 1, description: 'Number of the attempt' }),
  status: text('succeeded', 'failed', 'cancelled'),
  endedAt: timestamp('When the engine stored the end of the attempt'),
  ...reported,
  error: Type.Optional(StepErrorSchema),
})

/** Reply of `GET /runs/{id}/steps/{stepId}`. */
export const StepDetailSchema = Type.Object({
  ...StepRecordSchema.properties,
  attempts: Type.Array(StepAttemptSchema, {
    description: 'The attempts that have ended, oldest first; of more than 1,000 the newest',
  }),
})
