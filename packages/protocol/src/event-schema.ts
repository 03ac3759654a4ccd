// Schemas of events: sending one, for real or dry, and the log of them (contract §2.7, §4.4; decisions "Events").

import Type from 'typebox'
import { text, timestamp } from './schema-parts.ts'

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
