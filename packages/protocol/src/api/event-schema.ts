// Schemas of events: the body and the replies of `POST /events`, and the records of the event log.

import Type from 'typebox'
import { AttributesSchema } from '../wire/attributes-schema.ts'
import { APP_NAME_CHARS_MAX, EVENTS_OF_BATCH_MAX, NAME_CHARS_MAX, RUNNER_ID_CHARS_MAX } from '../wire/bounds.ts'
import { MatchValuesSchema } from '../wire/match-schema.ts'
import {
  count,
  countOrMore,
  duration,
  name,
  optionalFlag,
  optionalText,
  text,
  timestamp,
} from '../wire/schema-parts.ts'
import { flags, TriggeredSchema } from '../wire/triggered-schema.ts'
import { RunResultSchema } from './run-schema.ts'
import { EVENT_SOURCES } from './values.ts'

/** Maximum length of the dedupe id of an event, in characters. */
export const DEDUPE_ID_CHARS_MAX = 256

export const SendEventSchema = Type.Object({
  name: name(NAME_CHARS_MAX, 'Matched against the triggers of all workflows and against waiting runs'),
  app: Type.Optional(
    name(APP_NAME_CHARS_MAX, 'Only workflows of this app are considered; absent: workflows of every app'),
  ),
  data: Type.Optional(Type.Unknown({ description: 'Payload, any JSON' })),
  dedupeId: Type.Optional(name(DEDUPE_ID_CHARS_MAX, 'An event with the same id within 24 hours (per app) is dropped')),
  runner: Type.Optional(name(RUNNER_ID_CHARS_MAX, 'Pins the runs that the event starts to this runner')),
  targetApp: Type.Optional(
    name(APP_NAME_CHARS_MAX, 'Sends the event to another app: only the triggers of this app are considered'),
  ),
  attributes: Type.Optional(AttributesSchema),
  at: Type.Optional(timestamp('When the event arrives, at most 366 days from now; everything is decided then')),
  delay: Type.Optional(duration('The same, as a time from now: `"2h"`, or milliseconds')),
})

/** An event that has not arrived yet. */
export const ScheduledEventSchema = Type.Object({
  id: Type.String({ description: 'The id that the event has when it arrives' }),
  name: Type.String(),
  at: timestamp('When the event arrives'),
  app: optionalText(),
  data: Type.Optional(Type.Unknown({ description: 'The payload, exactly as it was sent' })),
  dedupeId: optionalText(),
  runner: optionalText(),
  targetApp: optionalText(),
  attributes: Type.Optional(AttributesSchema),
  createdAt: timestamp('When it was sent'),
})

export const DeletedScheduledEventsSchema = Type.Object({
  deleted: count('Events that will not arrive'),
  more: optionalFlag('Some matching events remain: the request can be repeated'),
})

const WARNINGS =
  'Unknown members of the body, and policies that did not apply to the event because their key could not be evaluated, one sentence each'

/** Members of the answer to a request that started one run and requested a token for it. */
export const tokenOfNewRun = {
  token: optionalText('Reads the run that was started; only where `?token=` asked for it'),
  tokenExpiresAt: Type.Optional(timestamp('The token is valid until this time')),
}

export const SendEventReplySchema = Type.Object({
  eventId: optionalText(),
  at: Type.Optional(timestamp('When the event arrives, for one with `at` or `delay`: its effects are not known yet')),
  runId: optionalText('The first run that the event started'),
  liveRunId: optionalText(
    'If it started none, the first live run for which a singleton skipped the event, or to which it delivered it',
  ),
  woke: Type.Optional(count('Number of waiting runs that the event woke')),
  triggered: Type.Optional(Type.Array(TriggeredSchema)),
  ...flags,
  suspended: optionalFlag('The namespace is suspended: no run was started'),
  warnings: Type.Optional(Type.Array(Type.String(), { description: WARNINGS })),
  run: Type.Optional(RunResultSchema),
  ...tokenOfNewRun,
})

export const SendEventsSchema = Type.Array(SendEventSchema, { maxItems: EVENTS_OF_BATCH_MAX })

/** One item of the reply of `POST /events/batch`: the reply of the event, or why it was refused. */
export const BatchedEventReplySchema = Type.Object({
  ...SendEventReplySchema.properties,
  error: Type.Optional(
    Type.Object(
      {
        code: Type.String({ description: 'A code of the catalogue' }),
        message: Type.String(),
        details: Type.Optional(Type.Unknown()),
      },
      { description: 'Why this event was refused; it had no effect' },
    ),
  ),
})

const dropKeyed = {
  key: optionalText("Value of the policy's key, '' without one; absent: the policy does not apply to this event"),
  error: optionalText('Why the key cannot be evaluated, or cannot be used because it is null, a list or a map'),
}

const keyed = {
  key: Type.String({
    description: "Value of the policy's key; '' without a key, and when the key cannot be evaluated",
  }),
  error: optionalText('Why the expression cannot be evaluated'),
}

/** The result of a dry run for one workflow. */
export const DryRunWorkflowSchema = Type.Object({
  workflow: Type.String(),
  app: Type.String(),
  trigger: Type.Object(
    { event: Type.String(), if: optionalText(), match: Type.Optional(MatchValuesSchema) },
    { description: 'The trigger that matches; if none does, the first whose event name matches' },
  ),
  matches: Type.Boolean({ description: 'Whether the event matches the trigger, including its filter' }),
  reason: optionalText('Why the event does not match'),
  outcome: Type.Optional({
    ...text('run', 'delivered', 'deduped', 'dropped', 'skipped', 'debounced', 'batched'),
    description: 'What the event would result in; `run`: it starts a run, alone or as the last event of a full batch',
  }),
  cancels: Type.Optional(Type.Array(Type.String(), { description: 'Runs that a singleton policy would cancel' })),
  policies: Type.Optional(
    Type.Object(
      {
        idempotency: Type.Optional(Type.Object(dropKeyed)),
        rateLimit: Type.Optional(
          Type.Object({
            ...dropKeyed,
            verdict: Type.Literal('not asked', {
              description: 'A dry run does not check a rate limit, because a check takes a token',
            }),
          }),
        ),
        singleton: Type.Optional(Type.Object({ ...dropKeyed, mode: text('skip', 'cancel', 'deliver') })),
        debounce: Type.Optional(Type.Object(dropKeyed)),
        batch: Type.Optional(Type.Object(keyed)),
        priority: Type.Optional(Type.Object({ value: Type.Number(), error: optionalText() })),
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
      { description: "The workflow's policies, in the order in which the engine checks them" },
    ),
  ),
})

/** Reply of `POST /events?dryRun=1`. */
export const DryRunReplySchema = Type.Object({
  dryRun: Type.Literal(true),
  deduped: optionalFlag('The dedupe id was already used: nothing would happen'),
  suspended: optionalFlag('The namespace is suspended: no run would start'),
  waiters: count('Number of waiting runs that the event would wake'),
  wakes: Type.Optional(Type.Array(Type.String(), { description: 'Ids of the first 10 of these runs' })),
  waited: Type.Optional(count('Number of runs that wait for the name, if not all of them would be woken')),
  workflows: Type.Array(DryRunWorkflowSchema, {
    description: 'Workflows with a trigger for this event name, sorted by workflow, then by app',
  }),
  nearest: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'At most 3 names that workflows have a trigger for and that are similar to this one, when no workflow has a trigger for this one',
    }),
  ),
  warnings: Type.Optional(Type.Array(Type.String(), { description: WARNINGS })),
})

export const EventRecordSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  app: optionalText(),
  source: text(...EVENT_SOURCES),
  scheduledAt: Type.Optional(timestamp('The scheduled time, if a schedule sent it')),
  receiverId: optionalText('The webhook receiver that took it in'),
  runId: optionalText('The run that the signal or update was sent to'),
  data: Type.Optional(Type.Unknown({ description: 'The payload, exactly as it was sent' })),
  erased: optionalFlag('The payload was erased with the last run that used it'),
  receivedAt: timestamp('When the event arrived'),
  woke: count('Number of waiting runs that the event woke'),
  triggered: Type.Array(TriggeredSchema),
})

/** A name that events of the log have. */
export const EventNameSchema = Type.Object({
  name: Type.String(),
  lastAt: timestamp('When the newest event of the name arrived'),
  lastEventId: Type.String({ description: 'The id of that event' }),
  count: Type.Optional(countOrMore('Its events since `since`, if that is given; the text `1000+` for more than 1,000')),
})

/** One frame of `GET /events/stream`. */
export const EventFrameSchema = Type.Object({
  kind: Type.Literal('event'),
  ...EventRecordSchema.properties,
})
